import { mac } from '../../crypto/seal.ts'

/** The MAC that the database has in place of a one-time code. */
export function codeMac(storeKey: Uint8Array, code: string): Uint8Array {
  return mac(storeKey, { purpose: 'card', secret: code, key: 'otc' })
}

/** The first code of a card. It follows from the UUID and the store key, so it is not stored. */
export function firstCode(storeKey: Uint8Array, uuid: string): string {
  const bytes = mac(storeKey, { purpose: 'card', secret: uuid, key: 'first otc' })
  return Buffer.from(bytes.subarray(0, 16)).toString('base64url')
}
