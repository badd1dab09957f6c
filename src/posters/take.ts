import { countOnce } from '../base/count-once.ts'
import { Refusal } from '../base/refusal.ts'
import type { UncountedDefinition } from '../coupons/definition-store.ts'
import { issueVouchers } from '../coupons/mint.ts'
import { mac, seal, unseal } from '../crypto/seal.ts'
import type { Caller } from '../session/caller.ts'
import { secondsToNextDay } from './day.ts'
import { lockPoster } from './manage.ts'
import { dayOfTake, type Poster } from './poster.ts'
import type { PosterService, PosterStores } from './service.ts'

type TakeInput = {
  id: string
  /** The Idempotency-Key. */
  key: string
  /** The client address, whose bursts are bounded. */
  address: string
}

/** `replayed` is true if a retry got the stored answer. */
type TakeOutcome = { replayed: boolean; body: string }

/**
 * Mint the voucher that a key takes from a poster, or repeat the answer that it got under this Idempotency-Key.
 * The answer is repeated for ever, also when the poster is paused, over or deleted. Refuses `poster-unknown`,
 * `poster-ended`, `poster-paused`, `not-now`, `poster-taken`, `poster-exhausted`, `poster-today`, `rate-limited`,
 * and as minting does.
 */
export function take(
  service: PosterService,
  caller: Caller,
  { id, key, address }: TakeInput,
): Promise<TakeOutcome> {
  const coupons = { ...service.coupons, charge: service.chargeTake }
  const { pubkey: taker, spend: first } = caller
  const binding = { purpose: 'take', secret: `${id} ${taker}`, key } as const
  const slot = mac(coupons.storeKey, binding)
  const count = countOnce(() => service.countTake(id, address))
  return service.database.transact({ roots: [], first }, async (tx) => {
    const now = coupons.now()
    const poster = await lockPoster(tx, id)
    if (!poster) throw new Refusal('poster-unknown')
    // The replay comes before all limits: a client that lost the answer must always get its nonce.
    const kept = await tx.posters.findTake(slot)
    if (kept) return { replayed: true, body: unseal(coupons.storeKey, binding, kept) }
    if (poster.deletedAt !== null) throw new Refusal('poster-unknown')

    const day = dayOfTake(poster, now)
    if (!(await tx.posters.countTake(poster.rowId, { taker, day, now }))) {
      throw await refusalOfTake(tx, poster, taker, now)
    }
    count()
    const definition = await definitionOf(tx, poster)
    const how = { count: 1, mintedBy: poster.owner, now }
    const [issued] = await issueVouchers(coupons, tx, definition, how)
    if (!issued) throw new Error('a take issued no voucher')
    const body = JSON.stringify(issued.result())
    const sealed = seal(coupons.storeKey, binding, body)
    await coupons.charge(tx, poster.owner, { bytes: sealed.length })
    tx.posters.fileTake(poster.rowId, issued.handle, { slot, sealed, taker, day })
    return { replayed: false, body }
  })
}

async function definitionOf(tx: PosterStores, poster: Poster): Promise<UncountedDefinition> {
  const definition = await tx.definitions.findUncounted(poster.couponId)
  if (!definition) throw new Error('a poster has no definition')
  return definition
}

/** The reason why the guarded write counted nothing. */
async function refusalOfTake(
  tx: PosterStores,
  poster: Poster,
  taker: string,
  now: number,
): Promise<Refusal> {
  const { startsAt, endsAt, timeZone } = poster
  if (endsAt !== null && endsAt <= now) return new Refusal('poster-ended')
  if (poster.paused) return new Refusal('poster-paused')
  if (startsAt !== null && startsAt > now) {
    return new Refusal('not-now', { retryAfter: startsAt - now })
  }
  if ((await tx.posters.countOf(poster.rowId, taker)) >= poster.perPerson) {
    return new Refusal('poster-taken')
  }
  if (poster.total !== null && poster.taken >= poster.total) return new Refusal('poster-exhausted')
  return new Refusal('poster-today', { retryAfter: secondsToNextDay(now, timeZone) })
}
