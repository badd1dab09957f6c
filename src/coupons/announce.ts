import { Refusal } from '../base/refusal.ts'
import type { Caller } from '../session/caller.ts'
import { parseAnnouncement } from './announcement.ts'
import type { Mint } from './service.ts'

/**
 * Store a merchant's announcement and hand it to the relays; one each, the newer wins.
 * Refuses the `announcement-…` codes, and `announcement-older` when a newer one is stored.
 */
export async function announce(
  mint: Mint,
  caller: Caller,
  value: unknown,
  origins: readonly string[],
) {
  return mint.database.transact(async (tx) => {
    const { event, warnings } = parseAnnouncement(value, {
      author: caller.pubkey,
      manager: mint.signer.pubkey,
      origins,
      now: mint.now(),
      verify: mint.verify,
    })
    await mint.requireMerchant(tx, caller)
    const before = await tx.announcements.find(caller.pubkey)
    if (before?.id !== event.id) {
      await mint.charge(tx, caller.pubkey, { bytes: Buffer.byteLength(JSON.stringify(event)) })
      mint.requireDisk()
    }
    if (await tx.announcements.put(event)) {
      if (before) await mint.recall(tx, before.id)
      await mint.broadcast(tx, event)
    } else if (before?.id !== event.id) throw new Refusal('announcement-older')
    return warnings.length > 0 ? { event, warnings } : { event }
  }, caller.spend)
}

/** Forget the announcement; it is no longer broadcast again, nor delivered where it still waits. Refuses `announcement-unknown`. */
export async function withdraw(mint: Mint, caller: Caller) {
  return mint.database.transact(async (tx) => {
    await mint.requireMerchant(tx, caller)
    const current = await tx.announcements.find(caller.pubkey)
    if (!current) throw new Refusal('announcement-unknown')
    await tx.announcements.remove(caller.pubkey)
    await mint.recall(tx, current.id)
    return { removed: true }
  }, caller.spend)
}
