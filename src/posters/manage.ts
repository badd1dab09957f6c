import { limits } from '../base/limits.ts'
import { Refusal } from '../base/refusal.ts'
import { type Answer, once, type Repeat } from '../coupons/answer.ts'
import { ownDefinition } from '../coupons/permission.ts'
import type { Caller } from '../session/caller.ts'
import {
  changedPoster,
  type NewPoster,
  type Poster,
  parseNewPoster,
  parsePosterChanges,
  posterView,
} from './poster.ts'
import type { PosterService } from './service.ts'

type Fields = Record<string, unknown>

/**
 * Create a poster of an own definition. The answer is `{poster}` with status 201. Refuses `field-invalid`,
 * `expiry-past`, `merchant-not-allowed`, `coupon-unknown`, `posters-full`, `bytes-day-full`, `disk-low`.
 */
export function createPoster(
  service: PosterService,
  caller: Caller,
  { couponId, ...fields }: Fields & { couponId: string },
  repeat: Repeat | null,
): Promise<Answer> {
  const { coupons } = service
  const { pubkey: owner, spend: first } = caller
  // The merchant, because the number of its posters is bounded.
  const roots = [{ definition: couponId, mode: 'shared' as const }, { merchant: owner }]
  return service.database.transact({ roots, first }, async (tx) =>
    once(coupons, tx, repeat, async () => {
      const now = coupons.now()
      const input = parseNewPoster(fields, now)
      await coupons.requireMerchant(tx, caller)
      const definition = await ownDefinition(tx, caller, couponId)
      if ((await tx.posters.count(owner)) >= limits.postersPerOwnerMax) {
        throw new Refusal('posters-full')
      }
      const named = { id: coupons.newId(), definitionRowId: definition.rowId, owner }
      const poster = posterView(created({ ...named, couponId }, input, now), now)
      const body = JSON.stringify({ poster })
      // A kept answer stores the whole poster a second time.
      await coupons.charge(tx, owner, { bytes: Buffer.byteLength(body) * (repeat ? 2 : 1) })
      coupons.requireDisk()
      tx.posters.insert(named, input, now)
      return { status: 201, body }
    }),
  )
}

/** The caller's posters, newest first, with their counters. Refuses `merchant-not-allowed`. */
export function listPosters({ database, coupons }: PosterService, caller: Caller) {
  return database.snapshot(async (tx) => {
    await coupons.requireMerchant(tx, caller)
    const now = coupons.now()
    const posters = await tx.posters.list(caller.pubkey)
    return { posters: posters.map((poster) => posterView(poster, now)) }
  })
}

/**
 * Change the limits of a poster, pause it or go on. Refuses `nothing-to-change`, `field-invalid`,
 * `merchant-not-allowed`, `poster-unknown`.
 */
export function editPoster(service: PosterService, caller: Caller, id: string, fields: Fields) {
  const { now } = service.coupons
  return service.database.transact({ roots: [], first: caller.spend }, async (tx) => {
    const changes = parsePosterChanges(fields)
    await service.coupons.requireMerchant(tx, caller)
    const poster = await ownPoster(tx, caller, id)
    const edited = changedPoster(poster, changes, now())
    tx.posters.update(edited)
    return { poster: posterView(edited, now()) }
  })
}

/**
 * Delete a poster. One with takes stays in the database, so that a lost answer can be given again.
 * Refuses `merchant-not-allowed`, `poster-unknown`.
 */
export function removePoster(service: PosterService, caller: Caller, id: string) {
  const { now } = service.coupons
  return service.database.transact({ roots: [], first: caller.spend }, async (tx) => {
    await service.coupons.requireMerchant(tx, caller)
    const poster = await ownPoster(tx, caller, id)
    if (poster.taken === 0) tx.posters.delete(poster.rowId)
    else tx.posters.update({ ...poster, updatedAt: now(), deletedAt: now() })
    return { deleted: true as const }
  })
}

type Locked = Parameters<Parameters<PosterService['database']['transact']>[1]>[0]

/** The caller's own poster, with its definition locked. Refuses `poster-unknown`, also for another merchant's. */
async function ownPoster(tx: Locked, caller: Caller, id: string): Promise<Poster> {
  const poster = await lockPoster(tx, id)
  if (poster?.owner !== caller.pubkey || poster.deletedAt !== null) {
    throw new Refusal('poster-unknown')
  }
  return poster
}

/** A poster, read under the lock of its definition. Null if there is none. */
export async function lockPoster(tx: Locked, id: string): Promise<Poster | null> {
  const named = await tx.posters.find(id)
  if (!named) return null
  await tx.lock({ definition: named.couponId, mode: 'changed' })
  return tx.posters.find(id)
}

type Created = { id: string; couponId: string; owner: string }

function created(named: Created, input: NewPoster, now: number): Poster {
  const counters = { taken: 0, takenDay: 0, takenThatDay: 0 }
  const times = { createdAt: now, updatedAt: now, deletedAt: null }
  return { ...input, ...named, ...counters, ...times, rowId: 0, paused: false }
}
