import { mac } from '../../crypto/seal.ts'

/** What stands for a one-time code in the database. */
export function codeMac(storeKey: Uint8Array, code: string): Uint8Array {
  return mac(storeKey, { purpose: 'card', secret: code, key: 'otc' })
}

/** The code that a card is initialised with: found again from its UUID, and by nobody without the store key. */
export function firstCode(storeKey: Uint8Array, uuid: string): string {
  const bytes = mac(storeKey, { purpose: 'card', secret: uuid, key: 'first otc' })
  return Buffer.from(bytes.subarray(0, 16)).toString('base64url')
}
