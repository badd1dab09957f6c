/** Operations by name, each on rows of the world that others change, too. */

import type { LoadedKeys } from '../../../src/app/keyring.ts'
import { pinKeys } from '../../../src/app/keys.ts'
import { closeForMove, moveBack } from '../../../src/app/move.ts'
import { announce, withdraw } from '../../../src/coupons/announce.ts'
import { voidBatch } from '../../../src/coupons/batches.ts'
import { claim } from '../../../src/coupons/claim.ts'
import { define, edit, remove } from '../../../src/coupons/define.ts'
import { mintVouchers } from '../../../src/coupons/mint.ts'
import { authorizeMinter, removeMinter } from '../../../src/coupons/minters.ts'
import { refresh } from '../../../src/coupons/refresh.ts'
import { sweepKilled, voidAll, voidVoucher } from '../../../src/coupons/void.ts'
import { answerSweep } from '../../../src/coupons/worker.ts'
import { outboxSweep } from '../../../src/gateway/worker.ts'
import { settleCode } from '../../../src/merchants/admit.ts'
import { operateMerchants } from '../../../src/merchants/operator.ts'
import { addMerchant, removeMerchant } from '../../../src/merchants/roster.ts'
import { requireSetupCode, setUp } from '../../../src/merchants/setup.ts'
import { merchantSweep } from '../../../src/merchants/worker.ts'
import { uploadPicture } from '../../../src/pictures/upload.ts'
import { pictureSweep } from '../../../src/pictures/worker.ts'
import { createPoster, editPoster, removePoster } from '../../../src/posters/manage.ts'
import { take } from '../../../src/posters/take.ts'
import { endSessions } from '../../../src/session/end.ts'
import { sessionSweep } from '../../../src/session/worker.ts'
import { changeShop } from '../../../src/shops/shop.ts'
import { percentBenefit } from '../../support/client.ts'
import { samples } from '../../support/pictures.ts'
import type { WorldDatabase } from './database.ts'
import {
  announcementOf,
  callerOf,
  claimOf,
  type createServices,
  image,
  oldSignature,
  type World,
} from './world.ts'

type Services = ReturnType<typeof createServices>

/** An operation of its own name. Its result is compared. */
export type Operations = Record<string, () => Promise<unknown>>

export type Parts = {
  world: World
  plain: Services
  metered: Services
  engine: WorldDatabase['engine']
}

const signature = 'ab'.repeat(32)

/** Operations on money, and those that decide about it. */
export function moneyOperations({ world, plain, metered }: Parts): Operations {
  const { coupons, posters } = plain
  const { cafe, gift, sent, open, end, batch, owner, minter, taker } = world
  const manage = callerOf(owner)
  const mint = (
    by: { pubkey: string },
    {
      services = coupons,
      couponId = cafe,
      count = null,
      signed = false,
      key,
    }: {
      services?: typeof coupons
      couponId?: string
      count?: number | null
      signed?: boolean
      key?: string
    } = {},
  ) =>
    mintVouchers(
      services,
      callerOf(by, signed ? signature : undefined),
      { couponId, count, names: null },
      key === undefined ? null : { key, scope: 'mint', request: 'the same' },
    )
  const takeBy = ({ pubkey }: { pubkey: string }, key: string) =>
    take(posters, callerOf({ pubkey }), { id: world.poster, key, address: '127.0.0.1' })
  return {
    mint: () => mint(owner),
    'mint by a minter': () => mint(minter),
    'mint under a key': () => mint(owner, { key: 'key-of-mint' }),
    'mint the last ones under a key': () => mint(owner, { count: 2, key: 'key-of-mint' }),
    'mint the last of a day under a key': () =>
      mint(owner, { services: metered.coupons, couponId: gift, key: 'key-of-mint' }),
    'mint with a signature': () => mint(owner, { signed: true }),
    refresh: () => refresh(coupons, { nonce: open, key: 'one-key' }),
    'refresh under another key': () => refresh(coupons, { nonce: open, key: 'other-key' }),
    'refresh the end of a chain': () => refresh(coupons, { nonce: end, key: 'one-key' }),
    claim: () => claim(coupons, claimOf(open), null, null),
    'claim under a key': () => {
      const repeat = { key: 'key-of-claim', scope: 'claim', request: 'the same' }
      return claim(coupons, claimOf(open), repeat, null)
    },
    'claim the end of a chain': () => claim(coupons, claimOf(end), null, null),
    'void a voucher': () =>
      voidVoucher(coupons, manage, { couponId: cafe, name: open, chain: false }),
    'void a chain': () =>
      voidVoucher(coupons, manage, { couponId: cafe, name: world.chained, chain: true }),
    'kill switch': () => voidAll(coupons, manage, cafe),
    'void a batch': () => voidBatch(coupons, manage, { couponId: cafe, batchId: batch }),
    'edit the limit': () => edit(coupons, manage, cafe, { maxUses: 5 }),
    archive: () => edit(coupons, manage, cafe, { archived: true }),
    'lift the limit': () => edit(coupons, manage, cafe, { maxUses: null }),
    'set a limit': () => edit(coupons, manage, gift, { maxUses: 2 }),
    'mint without a limit': () => mint(owner, { couponId: gift }),
    'mint without a limit under a key': () => mint(owner, { couponId: gift, key: 'key-of-gift' }),
    'void where no limit is': () =>
      voidVoucher(coupons, manage, { couponId: gift, name: sent.nonce, chain: false }),
    'kill switch where no limit is': () => voidAll(coupons, manage, gift),
    'take from a poster': () => takeBy(taker, 'key-of-taker'),
    'take from a poster again': () => takeBy(taker, 'another-key'),
    'add a minter': () => authorizeMinter(coupons, manage, { pubkey: taker.pubkey }),
    'change a minter': () =>
      authorizeMinter(coupons, manage, { pubkey: minter.pubkey, mint: false }),
    'remove a minter': () => removeMinter(coupons, manage, minter.pubkey),
    'end sessions': () =>
      endSessions({ database: coupons.database as never, now: plain.now }, null),
    'mint with quotas': () =>
      mintVouchers(metered.coupons, manage, { couponId: cafe, count: null, names: null }, null),
    'mint another coupon with quotas': () =>
      mintVouchers(
        metered.coupons,
        manage,
        { couponId: world.other, count: null, names: null },
        null,
      ),
  }
}

/** The other operations of merchants, and those of one node for all. */
export function otherOperations({ world, plain, engine }: Parts): Operations {
  const { coupons, posters, pictures, shops, merchants, now, at } = plain
  const { cafe, fresh, other, killed, owner, poster, picture, unused } = world
  const manage = callerOf(owner)
  const fields = { name: 'Té', benefit: percentBenefit }
  const [older, newer] = [announcementOf(owner, at - 10), announcementOf(owner, at)]
  const sweeps = { answerSweep, outboxSweep, merchantSweep, pictureSweep, sessionSweep }
  const keys = (byte: number) =>
    ({ storeKey: new Uint8Array(32).fill(byte) }) as Partial<LoadedKeys> as LoadedKeys
  const newPoster = { couponId: cafe, perPerson: 1, timeZone: 'America/Argentina/Buenos_Aires' }
  return {
    define: () => define(coupons, manage, { ...fields, image }, null),
    'define with a picture': () => define(coupons, manage, { ...fields, picture }, null),
    'define with an unused picture': () =>
      define(coupons, manage, { ...fields, picture: unused }, null),
    'edit to an unused picture': () => edit(coupons, manage, other, { picture: unused }),
    'edit the words': () => edit(coupons, manage, cafe, { name: 'Café doble' }),
    'edit the image': () => edit(coupons, manage, cafe, { image: null }),
    'edit the image of another coupon': () => edit(coupons, manage, fresh, { image: null }),
    'edit the picture': () => edit(coupons, manage, other, { picture: null }),
    'delete a coupon': () => remove(coupons, manage, fresh),
    'delete a coupon with a picture': () => remove(coupons, manage, other),
    'mint the first voucher': () =>
      mintVouchers(coupons, manage, { couponId: fresh, count: null, names: null }, null),
    'mint into a batch': () =>
      mintVouchers(
        coupons,
        manage,
        { couponId: cafe, count: 1, names: { batch: { id: world.batch }, labels: ['Eva'] } },
        null,
      ),
    'mark what was voided': () => sweepKilled(coupons),
    'mint a coupon that was voided': () =>
      mintVouchers(coupons, manage, { couponId: killed, count: null, names: null }, null),
    'kill switch again': () => voidAll(coupons, manage, killed),
    'archive a coupon that was voided': () => edit(coupons, manage, killed, { archived: true }),
    'create a poster': () => createPoster(posters, manage, newPoster, null),
    'create a poster of a coupon to delete': () =>
      createPoster(posters, manage, { ...newPoster, couponId: fresh }, null),
    'pause a poster': () => editPoster(posters, manage, poster, { paused: true }),
    'bound a poster': () => editPoster(posters, manage, poster, { total: 1 }),
    'delete a poster': () => removePoster(posters, manage, poster),
    'rename the shop': () => changeShop(shops, manage, { name: 'Bar', picture }),
    'change the logo': () => changeShop(shops, manage, { picture: unused }),
    'let only own tills redeem': () => changeShop(shops, manage, { onlyAuthorizedTills: true }),
    'upload a picture': () => uploadPicture(pictures, manage, samples.jpeg),
    'upload a picture again': () => uploadPicture(pictures, manage, samples.webp),
    'use an old signature': () => removeMinter(coupons, callerOf(owner, oldSignature), 'nobody'),
    announce: () => announce(coupons, manage, newer, []),
    'announce an older one': () => announce(coupons, manage, older, []),
    withdraw: () => withdraw(coupons, manage),
    'add a merchant': () => addMerchant(merchants, manage, { pubkey: world.stranger.pubkey }),
    'remove a merchant': () => removeMerchant(merchants, manage, world.partner.pubkey),
    'remove the owner': () => operateMerchants(merchants, { do: 'remove', pubkey: owner.pubkey }),
    'show the setup code': () => operateMerchants(merchants, { do: 'code', another: false }),
    'admit a guest': () =>
      operateMerchants(merchants, { do: 'admit-guest', pubkey: world.stranger.pubkey }),
    'dismiss a guest': () =>
      operateMerchants(merchants, { do: 'dismiss-guest', pubkey: world.stranger.pubkey }),
    'let a merchant in again': () =>
      operateMerchants(merchants, { do: 'add', pubkey: owner.pubkey, label: 'Café' }),
    'let owners of older coupons in': () =>
      operateMerchants(merchants, { do: 'confirm', pubkeys: [world.partner.pubkey] }),
    'replace the setup code': () => operateMerchants(merchants, { do: 'code', another: true }),
    'set up with the code': () => setUp(merchants, callerOf(world.stranger), world.code),
    'set up with the code as another': () => setUp(merchants, callerOf(world.taker), world.code),
    'type the code': () => requireSetupCode(merchants, world.code),
    'type a wrong code': () => requireSetupCode(merchants, 'wrong'),
    'settle the setup code': () =>
      engine.transact({ roots: ['instance', 'roster'] }, (tx) => settleCode(merchants, tx)),
    'pin the keys': () => pinKeys(engine, keys(1), plain.signer.pubkey),
    'pin other keys': () => pinKeys(engine, keys(2), world.owner.pubkey),
    'close for a move': () => closeForMove(engine, at),
    'open again': () => moveBack(engine),
    ...Object.fromEntries(
      Object.entries(sweeps).map(([name, { prune }]) => [
        name,
        () => engine.transact({ roots: ['instance'] }, (tx) => prune(tx, now())),
      ]),
    ),
  }
}
