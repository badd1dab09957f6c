import { Refusal } from '../base/refusal.ts'
import type { Caller } from '../session/caller.ts'
import { parseAnnouncement } from './announcement.ts'
import type { CouponService } from './service.ts'

/**
 * Store a merchant's announcement (kind 30078) and queue it for the relays. A merchant has one, and the
 * newer wins. Refuses the `announcement-…` codes, `announcement-older` if a newer one is stored.
 */
export async function announce(
  service: CouponService,
  caller: Caller,
  value: unknown,
  origins: readonly string[],
) {
  const plan = { roots: [{ merchant: caller.pubkey }], first: caller.spend }
  return service.database.transact(plan, async (tx) => {
    const { event, warnings } = parseAnnouncement(value, {
      author: caller.pubkey,
      manager: service.signer.pubkey,
      origins,
      now: service.now(),
      verify: service.verify,
    })
    await service.requireMerchant(tx, caller)
    const before = await tx.announcements.find(caller.pubkey)
    await tx.lock({ event: event.id }, ...(before ? [{ event: before.id }] : []))
    // The event that is stored already costs nothing: a page may send it again after a lost answer.
    if (before?.id !== event.id) {
      await service.charge(tx, caller.pubkey, { bytes: Buffer.byteLength(JSON.stringify(event)) })
      service.requireDisk()
    }
    // One transaction stores the event and queues it: after a crash it is neither lost nor sent unstored.
    if (await tx.announcements.put(event)) {
      if (before) await service.recall(tx, before.id)
      await service.broadcast(tx, event)
    } else if (before?.id !== event.id) throw new Refusal('announcement-older')
    return warnings.length > 0 ? { event, warnings } : { event }
  })
}

/**
 * Delete the announcement. It is not broadcast again, and deliveries that still wait are dropped.
 * Refuses `announcement-unknown`.
 */
export async function withdraw(service: CouponService, caller: Caller) {
  const plan = { roots: [{ merchant: caller.pubkey }], first: caller.spend }
  return service.database.transact(plan, async (tx) => {
    await service.requireMerchant(tx, caller)
    const current = await tx.announcements.find(caller.pubkey)
    if (!current) throw new Refusal('announcement-unknown')
    await tx.lock({ event: current.id })
    await tx.announcements.remove(caller.pubkey)
    await service.recall(tx, current.id)
    return { removed: true }
  })
}
