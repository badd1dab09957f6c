/** Rows that stores are filled with, each with a value of its own where it has to differ. */

import type { NewDefinition } from '../../src/coupons/definition.ts'
import type { StoredDefinition } from '../../src/coupons/definition-store.ts'
import type { Voucher } from '../../src/coupons/voucher.ts'
import type { NostrEvent } from '../../src/nostr/event.ts'
import type { CouponTx } from './harness.ts'

/** Unix seconds of most rows. */
export const at = 1_800_000_000
/** The largest number that crosses the port as it is. */
export const most = Number.MAX_SAFE_INTEGER

/** A public key, hex; the same number gives the same. */
export function key(number: number): string {
  return number.toString(16).padStart(64, 'a')
}

export function bytes(length: number, number: number): Uint8Array {
  return Uint8Array.fromHex(number.toString(16).padStart(length * 2, '0'))
}

/** Of a voucher's nonce. */
export function handle(number: number): Uint8Array {
  return bytes(16, number)
}

export function uuid(number: number): string {
  return `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
}

/** An event without a right signature: no store looks at it. */
export function event(number: number, parts: Partial<NostrEvent> = {}): NostrEvent {
  const [kind, pubkey, sig] = [1, key(1), 'f'.repeat(128)]
  const id = number.toString(16).padStart(64, '0')
  return { id, pubkey, created_at: at, kind, tags: [], content: 'ñandú', sig, ...parts }
}

export const terms: NewDefinition = {
  name: 'Café',
  description: 'Un café de la casa',
  image: null,
  benefit: { type: 'percent', percent: 10 },
  expiresAt: null,
  maxUses: null,
  rules: null,
  picture: null,
}

/** A definition that was just written; its number is that of its uuid. */
export async function defined(
  tx: CouponTx,
  number: number,
  parts: Partial<NewDefinition> & { owner?: string; now?: number } = {},
): Promise<StoredDefinition> {
  const { owner = key(1), now = at, ...input } = parts
  await tx.definitions.insert(uuid(number), owner, { ...terms, ...input }, now)
  return found(await tx.definitions.find(uuid(number)))
}

/** Vouchers of a definition, one for each of these numbers, with their slots. */
export async function issued(
  tx: CouponTx,
  definition: Pick<
    StoredDefinition,
    'rowId' | 'revisionId' | 'maxUses' | 'archivedAt' | 'expiresAt'
  >,
  numbers: readonly number[],
  now = at,
): Promise<Voucher[]> {
  if (!(await tx.definitions.take(definition, numbers.length, now))) {
    throw new Error('there was no slot')
  }
  const { rowId: definitionRowId, revisionId } = definition
  const vouchers: Voucher[] = []
  for (const number of numbers) {
    await tx.vouchers.issue(handle(number), { definitionRowId, revisionId, mintedBy: key(9), now })
    vouchers.push(found(await tx.vouchers.find(handle(number))))
  }
  return vouchers
}

export function found<T>(row: T | null | undefined): T {
  if (row === null || row === undefined) throw new Error('a row that was just written is not found')
  return row
}

/** A redemption of an anonymous till that nobody paid for over lightning. */
export const filed = {
  zapRequest: null,
  zapRequestId: null,
  amountMsat: null,
  purchase: null,
  by: null,
}

/** True when it does not throw. */
export function succeeds(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  )
}

/** How many of these came true. */
export function count(outcomes: readonly boolean[]): number {
  return outcomes.filter(Boolean).length
}

type Refresh = { handle: Uint8Array; keyMac: Uint8Array; sealed: Uint8Array; now: number }

/** Burn a voucher and store the answer with its successor. False if it was not spendable. */
export async function handOn(tx: CouponTx, old: Voucher, by: Refresh): Promise<boolean> {
  const burned = await tx.vouchers.replace(old, by.handle, by.now)
  if (burned) tx.vouchers.fileRefresh(old, by)
  return burned
}
