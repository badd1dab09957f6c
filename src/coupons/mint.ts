import { limits } from '../base/limits.ts'
import { Refusal } from '../base/refusal.ts'
import type { AfterCommit, BeforeCommit, Locking } from '../db/database.ts'
import type { Caller } from '../session/caller.ts'
import { type Answer, once, type Repeat, rootsOfAnswer, signedAnswer } from './answer.ts'
import type { Batch } from './batch-store.ts'
import { fileNames, type Names } from './batches.ts'
import type { UncountedDefinition } from './definition-store.ts'
import type { Change } from './live.ts'
import { couponChanged } from './news.ts'
import { handleOf } from './nonce.ts'
import type { CouponService, CouponStores } from './service.ts'
import { beginMinted, expired, type VoucherResult } from './voucher.ts'

type MintInput = {
  couponId: string
  /** Number of vouchers, all or none. Null means one, and the answer is no list. */
  count: number | null
  /** Batch and labels, or null. */
  names: Names | null
}

/**
 * Issue vouchers from a definition, as its owner or an authorized minter.
 * Refuses, in this order: `mint-not-allowed`, `coupon-unknown`, `disk-low`, `coupon-archived`, `coupon-expired`,
 * `coupon-exhausted`, `vouchers-day-full`, `batch-unknown`, `batch-full`, `batches-full`, `bytes-day-full`.
 */
export async function mintVouchers(
  service: CouponService,
  caller: Caller,
  { couponId, count, names }: MintInput,
  repeat: Repeat | null,
): Promise<Answer> {
  const issueAll = async (tx: CouponStores & AfterCommit & BeforeCommit & Locking) => {
    return once(service, tx, repeat, async () => {
      const now = service.now()
      // Permission comes first, so that a stranger does not learn whether a coupon is archived or used up.
      const definition = await mintableBy(tx, caller, couponId)
      const how = { count: count ?? 1, mintedBy: caller.pubkey, now }
      const issued = await issueVouchers(service, tx, definition, how)
      const batch = names && (await fileNames(service, tx, definition, names, { issued, now }))
      const answer = signedAnswer(tx, repeat, () => {
        const vouchers = issued.map(({ result }) => result())
        return JSON.stringify(
          count === null && !names ? vouchers[0] : { vouchers, ...batchView(batch) },
        )
      })
      const bytes = Buffer.byteLength(answer.body)
      if (repeat) await service.charge(tx, definition.owner, { bytes })
      return answer
    })
  }
  // A request for many waits in the short queue of heavy operations. A caller without permission is sent with the
  // light ones, where it is refused, so that strangers cannot fill that queue.
  const many = count !== null && count > limits.lightRowsMax
  const rows = many && (await mayMint(service, caller, couponId)) ? count : 1
  // Mints of one coupon run side by side: counters and `maxUses` need no lock. Batches are counted under it.
  const definition = { definition: couponId, mode: names ? 'changed' : 'shared' } as const
  const roots = [definition, ...rootsOfAnswer(service, repeat)]
  return service.database.transact({ roots, first: caller.spend, rows }, issueAll)
}

function batchView(batch: Batch | null) {
  return batch && { batch: { id: batch.id, name: batch.name } }
}

async function mayMint(service: CouponService, caller: Caller, couponId: string): Promise<boolean> {
  try {
    await service.database.snapshot((tx) => mintableBy(tx, caller, couponId))
    return true
  } catch (refused) {
    if (refused instanceof Refusal) return false
    throw refused
  }
}

async function mintableBy(
  tx: CouponStores,
  caller: Caller,
  couponId: string,
): Promise<UncountedDefinition> {
  const definition = await tx.definitions.findUncounted(couponId)
  if (!definition) throw new Refusal('coupon-unknown')
  if (definition.owner === caller.pubkey) return definition
  const minter = await tx.minters.find(definition.owner, caller.pubkey)
  if (minter?.mint) return definition
  throw new Refusal('mint-not-allowed')
}

type Issue = { count: number; mintedBy: string; now: number }

/** An issued voucher whose signature was begun. `result` is called once. */
type Begun = { handle: Uint8Array; result: () => VoucherResult }

/**
 * Issue vouchers of a definition that the caller may mint: a part of a transaction that has the definition as its
 * root. Refuses `disk-low`, `coupon-archived`, `coupon-expired`, `coupon-exhausted`, `vouchers-day-full`.
 */
export async function issueVouchers(
  service: CouponService,
  tx: CouponStores & AfterCommit & Locking,
  definition: UncountedDefinition,
  { count, mintedBy, now }: Issue,
): Promise<Begun[]> {
  service.requireDisk()
  // The count comes before the vouchers: parallel requests must not pass `maxUses` together.
  if (!(await tx.definitions.take(definition, count, now))) {
    throw refusalOfMint(definition, now)
  }
  await service.charge(tx, definition.owner, { vouchers: count })
  const issued: Begun[] = []
  for (let made = 0; made < count; made++) {
    issued.push(await issue(service, tx, definition, { mintedBy, now }))
  }
  const [only, ...others] = issued
  // The live stream names a single voucher. A list of 500 handles would fill its buffer.
  const change: Change = {
    type: 'minted',
    owner: definition.owner,
    couponId: definition.id,
    at: now,
    handle: only && others.length === 0 ? only.handle : null,
    count: issued.length,
    mintedBy,
  }
  tx.tell(couponChanged, change)
  return issued
}

async function issue(
  service: CouponService,
  tx: CouponStores,
  definition: UncountedDefinition,
  { mintedBy, now }: Pick<Issue, 'mintedBy' | 'now'>,
): Promise<Begun> {
  const nonce = service.newNonce()
  const handle = handleOf(nonce)
  const { owner, id: couponId, rowId: definitionRowId, revisionId } = definition
  const result = beginMinted(service.signer, { couponId, owner, terms: definition, nonce }, now)
  await tx.vouchers.issue(handle, { definitionRowId, revisionId, mintedBy, now })
  return { handle, result }
}

function refusalOfMint(definition: UncountedDefinition, now: number): Refusal {
  if (definition.archivedAt !== null) return new Refusal('coupon-archived')
  if (expired(definition, now)) return new Refusal('coupon-expired')
  return new Refusal('coupon-exhausted')
}
