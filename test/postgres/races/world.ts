/** A small service on a database: its rows before each race, and the parts of its operations. */

import { limits } from '../../../src/base/limits.ts'
import { Refusal } from '../../../src/base/refusal.ts'
import { announce } from '../../../src/coupons/announce.ts'
import { claim } from '../../../src/coupons/claim.ts'
import { define } from '../../../src/coupons/define.ts'
import { mintVouchers } from '../../../src/coupons/mint.ts'
import { authorizeMinter } from '../../../src/coupons/minters.ts'
import { createNonce } from '../../../src/coupons/nonce.ts'
import { refresh } from '../../../src/coupons/refresh.ts'
import type { CouponService } from '../../../src/coupons/service.ts'
import { voidAll } from '../../../src/coupons/void.ts'
import { noVoucherLimits } from '../../../src/coupons/voucher-limits.ts'
import type { AfterCommit, Locking } from '../../../src/db/database.ts'
import { enqueue } from '../../../src/gateway/publish.ts'
import { requireMerchant } from '../../../src/merchants/admit.ts'
import { codeOf } from '../../../src/merchants/code.ts'
import { charge, chargeTake, dayOf } from '../../../src/merchants/quota.ts'
import type { Added } from '../../../src/merchants/quota-store.ts'
import { addMerchant, admit } from '../../../src/merchants/roster.ts'
import type { Merchants } from '../../../src/merchants/service.ts'
import type { NostrEvent, Signer } from '../../../src/nostr/event.ts'
import type { Pictures } from '../../../src/pictures/service.ts'
import { uploadPicture } from '../../../src/pictures/upload.ts'
import { createPoster } from '../../../src/posters/manage.ts'
import type { PosterService } from '../../../src/posters/service.ts'
import type { Caller } from '../../../src/session/caller.ts'
import type { Shops } from '../../../src/shops/service.ts'
import { manager } from '../../support/cards.ts'
import { newSigner, percentBenefit, verifyEvent } from '../../support/client.ts'
import { secondsNow } from '../../support/clock.ts'
import { samples } from '../../support/pictures.ts'
import type { Stores, WorldDatabase } from './database.ts'

const storeKey = new Uint8Array(32).fill(5)
/** Of the setup code. */
const salt = new Uint8Array(16).fill(200)
export const relays = ['wss://one.example', 'wss://two.example'] as const
/** A signature that was used long ago. */
export const oldSignature = 'cd'.repeat(32)
export const image = 'https://example.com/a.png'

/** The caller of a session, or of a signed request where the signature has an id. */
export function callerOf({ pubkey }: { pubkey: string }, signature?: string): Caller {
  const spend: Caller['spend'] = async (tx) => {
    // Later than any sweep of a race.
    if (!(await tx.proofs.use(signature ?? '', 4_000_000_000))) throw new Refusal('auth-replay')
  }
  return { pubkey, beganAt: 0, until: 0, spend: signature === undefined ? undefined : spend }
}

/** The parts of the operations, as `src/app` puts them together. `metered`: with quotas. */
export function createServices(engine: WorldDatabase['engine'], metered = false) {
  const at = secondsNow()
  const now = () => at
  const signer = manager
  let salt = 0
  const merchants: Merchants = {
    ...{ database: engine, now, storeKey, metered: () => metered, listed: new Set() },
    newSalt: () => new Uint8Array(16).fill(salt++),
    admission: () => 'let-in',
    trySetup: () => undefined,
    happened: () => undefined,
  }
  const shared = {
    ...{ database: engine, now, requireDisk: () => undefined },
    requireMerchant: (tx: Stores, caller: Caller) => requireMerchant(merchants, tx, caller),
    charge: (tx: Stores & Locking, owner: string, added: Partial<Added>) =>
      charge(merchants, tx, owner, added),
  }
  const broadcast = async (tx: Stores, event: NostrEvent) =>
    void (await enqueue(tx.outbox, event, relays, { now: at, priority: 'own' }))
  const coupons: CouponService = {
    ...shared,
    ...{ signer, verify: verifyEvent, storeKey, newNonce: createNonce, broadcast },
    ...noVoucherLimits,
    newId: () => Bun.randomUUIDv7(),
    addressOf: () => null,
    pictureAt: () => null,
    resolveName: async () => null,
    recall: (tx: Stores, id: string) => tx.outbox.recall(id, 'taken back', at),
  }
  const posters: PosterService = {
    ...{ database: engine, coupons, countTake: () => undefined },
    chargeTake: (tx: Stores & Locking, owner: string, added: Partial<Added>) =>
      chargeTake(merchants, tx, owner, added),
  }
  const pictures: Pictures = { ...shared, origin: null }
  return {
    at,
    now,
    signer,
    merchants,
    coupons,
    posters,
    pictures,
    broadcast,
    shops: shared as Shops,
  }
}

type Services = ReturnType<typeof createServices>

/** The first rows. Vouchers are named by their nonces, other rows by their ids. */
export async function fillWorld(engine: WorldDatabase['engine'], services: Services) {
  const { coupons, posters, pictures, merchants, at } = services
  const [owner, minter, taker] = [newSigner(), newSigner(), newSigner()]
  const [stranger, partner] = [newSigner(), newSigner()]
  const manage = callerOf(owner)
  await engine.transact({ roots: ['roster'] }, (tx) =>
    admit(merchants, tx as Stores & AfterCommit, {
      ...{ pubkey: owner.pubkey, label: null, owner: true, by: 'operator' },
    }),
  )
  await addMerchant(merchants, manage, { pubkey: partner.pubkey })
  await authorizeMinter(coupons, manage, { pubkey: minter.pubkey })
  const fields = { name: 'Café', benefit: percentBenefit, image }
  const defineOne = async (more: object) =>
    JSON.parse((await define(coupons, manage, { ...fields, ...more }, null)).body).coupon
      .id as string
  const { body: uploaded } = await uploadPicture(pictures, manage, samples.png)
  const picture = uploaded.picture.hash
  const cafe = await defineOne({ maxUses: 6, expiresAt: at + 86_400 })
  const fresh = await defineOne({})
  const other = await defineOne({ image: null, picture })
  const killed = await defineOne({ maxUses: 3 })
  await mintVouchers(coupons, manage, { couponId: killed, count: 2, names: null }, null)
  await voidAll(coupons, manage, killed)
  const gift = await defineOne({})
  const sent = await mintVouchers(
    coupons,
    manage,
    { couponId: gift, count: null, names: null },
    null,
  )
  await announce(coupons, manage, announcementOf(owner, at - 60), [])
  const mint = async (names: Parameters<typeof mintVouchers>[2]['names'] = null) =>
    JSON.parse(
      (await mintVouchers(coupons, manage, { couponId: cafe, count: 1, names }, null)).body,
    )
  const nonceOf = ({ vouchers }: { vouchers: { nonce: string }[] }) => vouchers[0]?.nonce ?? ''
  const [open, chained, till] = [await mint(), await mint(), await mint()].map(nonceOf)
  const batched = await mint({ batch: { name: 'Lote' }, labels: ['Ana'] })
  const { body } = await refresh(coupons, { nonce: chained ?? '', key: 'first-key' })
  await claim(coupons, claimOf(till ?? ''), null, null)
  const named = { couponId: cafe, label: 'Vidriera', perPerson: 1, total: 5 }
  const poster = await createPoster(
    posters,
    manage,
    { ...named, timeZone: 'America/Argentina/Buenos_Aires' },
    null,
  )
  // A picture and signatures that a sweep deletes.
  const unused = await uploadPicture(pictures, manage, samples.webp)
  const long = at - limits.pictureUnusedSeconds - 10
  await engine.transact({ roots: 'none' }, async (tx) => {
    await tx.pictures.keep(owner.pubkey, unused.body.picture.hash, long)
    const guest = { pubkey: stranger.pubkey, label: null, owner: false, createdAt: at - 60 }
    await tx.merchants.put({ ...guest, expiresAt: at - 10 })
    await tx.merchants.setCode(salt)
    await tx.proofs.use(oldSignature, at - limits.proofWindowSeconds - 10)
  })
  // Room for one voucher more of this day.
  const { vouchersPerDayMax } = limits
  await engine.transact({ roots: 'none' }, async (tx) => {
    await tx.quotas.add(dayOf(at), owner.pubkey, {
      ...{ vouchers: vouchersPerDayMax - 1, bytes: 0, refreshes: 0 },
    })
  })
  return {
    ...{ owner, minter, taker, stranger, partner, cafe, fresh, other, killed, picture },
    unused: unused.body.picture.hash,
    gift,
    /** A voucher of its own coupon, for a transfer. */
    sent: JSON.parse(sent.body) as { nonce: string; voucher: NostrEvent },
    open: open ?? '',
    /** The first voucher of a chain, and the open one at its end. */
    chained: chained ?? '',
    end: JSON.parse(body).nonce as string,
    claimed: till ?? '',
    batched: nonceOf(batched),
    batch: batched.batch.id as string,
    poster: JSON.parse(poster.body).poster.id as string,
    code: codeOf(storeKey, salt),
  }
}

export type World = Awaited<ReturnType<typeof fillWorld>>

export function claimOf(nonce: string): Parameters<typeof claim>[1] {
  return { nonce, owner: null, zapRequest: null, amountMsat: null, purchase: null }
}

export function announcementOf(owner: Signer, createdAt: number): NostrEvent {
  return owner.sign({
    kind: 30_078,
    created_at: createdAt,
    tags: [['d', 'lacrypta.merchant/coupons']],
    content: '{}',
  })
}
