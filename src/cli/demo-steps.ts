import { systemClock } from '../base/clock.ts'
import { announcementTemplate } from '../client/announcement.ts'
import { handleOf, handleText } from '../coupons/nonce.ts'
import type { NostrEvent, Signer } from '../nostr/event.ts'
import { npubOf } from '../nostr/keys.ts'
import { kinds } from '../nostr/kinds.ts'
import {
  DemoFailure,
  expectEqual,
  expectGood,
  expectMade,
  expectNear,
  expectRefusal,
  expectRemoved,
  type Json,
} from './demo-checks.ts'
import { abbreviate } from './demo-client.ts'
import { type DemoLife, newKey } from './demo-life.ts'

/** One or a few requests. `run` returns the words for the end of its line of output. */
type Step = { title: string; run: () => Promise<string> }

/** The steps of a coupon's life. A step throws DemoFailure if the server breaks the protocol. */
export function demoSteps(base: string, life: DemoLife): Step[] {
  return [...preparation(life, base), ...handOver(life), ...redemption(life), ...bookkeeping(life)]
}

/** The merchant signs in, announces the service, defines a coupon and admits a minter. */
function preparation(life: DemoLife, base: string): Step[] {
  const { client, merchant, minter, terms } = life
  return [
    {
      title: 'Ask for the key that signs vouchers here',
      async run() {
        const found = expectGood(await client.call('GET', '/api/coupons/manager'), 200)
        life.manager = String(found?.pubkey)
        if (!/^[0-9a-f]{64}$/.test(life.manager))
          throw new DemoFailure('the manager key is no public key')
        expectEqual('the manager', found, { pubkey: life.manager, npub: npubOf(life.manager) })
        return abbreviate(npubOf(life.manager))
      },
    },
    {
      title: 'The merchant trades one signature (NIP-98) for a session',
      async run() {
        // One session more does no harm.
        const call = { signer: merchant, harmless: true }
        const reply = await client.call('POST', '/api/auth/session', call)
        life.proof = reply.authorization
        const { token, pubkey, expiresAt, ...rest } = expectGood(reply, 200) ?? {}
        expectEqual('the session', { pubkey, ...rest }, { pubkey: merchant.pubkey })
        expectNear('the end of the session', expiresAt, systemClock() + 12 * 60 * 60)
        life.bearer = `Bearer ${token}`
        return 'a token for 12 hours'
      },
    },
    {
      title: 'The same signature a second time is refused',
      async run() {
        const call = { ...(life.proof && { authorization: life.proof }), harmless: true }
        const again = await client.call('POST', '/api/auth/session', call)
        expectRefusal(again, 401, 'auth-replay', 'replay')
        return again.json.code
      },
    },
    {
      title: 'The merchant announces where to mint, claim and refresh (kind 30078)',
      async run() {
        life.announcement = announce(merchant, life.manager, base)
        const call = { ...life.asMerchant(), body: { event: life.announcement } }
        const stored = expectGood(await client.call('PUT', '/api/coupons/discovery', call), 200)
        expectEqual('the stored announcement', stored, { event: life.announcement })
        return `event ${abbreviate(life.announcement.id)}`
      },
    },
    {
      title: 'The management page of a new merchant: the announcement, nothing else yet',
      async run() {
        const found = expectGood(await client.call('GET', '/api/coupons', life.asMerchant()), 200)
        const expected = { coupons: [], minters: [], discovery: life.announcement }
        expectEqual('the overview', found, expected)
        return 'the same event, unchanged'
      },
    },
    {
      title: `The merchant defines "${terms.name}": 12.5 % off, three at most`,
      async run() {
        const body = { ...terms, maxUses: 3 }
        const call = { ...life.asMerchant(), body, idempotencyKey: newKey() }
        const { coupon, ...rest } = expectGood(await client.call('POST', '/api/coupons', call), 201)
        life.couponId = String(coupon?.id)
        const { createdAt, updatedAt, ...fields } = coupon ?? {}
        const counters = { minted: 0, claimed: 0, archivedAt: null }
        expectEqual('the definition', fields, {
          ...terms,
          id: life.couponId,
          maxUses: 3,
          ...counters,
        })
        expectEqual('the rest of the answer', rest, {})
        expectNear('createdAt', createdAt, systemClock())
        expectEqual('updatedAt', updatedAt, createdAt)
        return `coupon ${abbreviate(life.couponId)}`
      },
    },
    {
      title: 'The merchant lets another key mint it',
      async run() {
        const npub = npubOf(minter.pubkey)
        // The same key again stays one minter.
        const call = {
          ...life.asMerchant(),
          body: { pubkey: npub, label: 'Caja 1' },
          harmless: true,
        }
        const found = expectMade(await client.call('POST', '/api/coupons/minters', call))
        life.minterRow = found?.minter
        const createdAt = life.minterRow?.createdAt
        const expected = { pubkey: minter.pubkey, npub, label: 'Caja 1', createdAt }
        expectEqual('the minter', found, { minter: expected })
        expectNear('createdAt', createdAt, systemClock())
        return abbreviate(npub)
      },
    },
    {
      title: 'The minter sees what it may mint (NIP-98)',
      async run() {
        const call = { signer: minter }
        const found = expectGood(await client.call('GET', '/api/coupons/mintable', call), 200)
        const { nonce: _, couponId: id, ...fields } = life.frozen('')
        expectEqual('the mintable coupons', found, { coupons: [{ id, ...fields, remaining: 3 }] })
        return 'three remaining'
      },
    },
  ]
}

/** A voucher is minted and changes hands. */
function handOver(life: DemoLife): Step[] {
  const { client, minter, refreshKey } = life
  return [
    {
      title: 'The minter mints a voucher (NIP-98)',
      async run() {
        life.first = await life.mint({ signer: minter })
        return `nonce ${abbreviate(life.first.nonce)}, signed by the manager`
      },
    },
    {
      title: 'The customer, who holds the nonce, previews the voucher',
      async run() {
        const call = { body: { nonce: life.first.nonce }, harmless: true }
        const found = expectGood(await client.call('POST', '/api/coupons/preview', call), 200)
        const expected = { status: 'minted', ...life.frozen(life.first.nonce), claimedAt: null }
        expectEqual('the preview', found, expected)
        return found.status
      },
    },
    {
      title: 'The coupon changes hands: a new nonce, the old one burns',
      async run() {
        const reply = await life.refresh(life.first.nonce, refreshKey)
        life.second = expectMade(reply)
        life.refreshed = reply.text
        life.checkVoucher(life.second)
        if (life.second.nonce === life.first.nonce)
          throw new DemoFailure('the nonce is the old one')
        return `nonce ${abbreviate(life.first.nonce)} → ${abbreviate(life.second.nonce)}`
      },
    },
    {
      title: 'The same key gets the same answer again, as after a lost one',
      async run() {
        const reply = await life.refresh(life.first.nonce, refreshKey)
        expectGood(reply, 200)
        if (reply.text !== life.refreshed) throw new DemoFailure('the answer is not the same bytes')
        return `the same ${Buffer.byteLength(life.refreshed)} bytes`
      },
    },
    {
      title: 'Another key gets nothing',
      async run() {
        const reply = await life.refresh(life.first.nonce, newKey())
        expectRefusal(reply, 409, 'voucher-refreshed')
        return reply.json.code
      },
    },
    {
      title: 'The old nonce is worth nothing',
      async run() {
        const reply = await life.claimAgain(life.first.nonce)
        expectRefusal(reply, 410, 'voucher-moved')
        return reply.json.code
      },
    },
  ]
}

/** The voucher is redeemed, once. */
function redemption(life: DemoLife): Step[] {
  const { customer, minter } = life
  return [
    {
      title: 'The till redeems the new one, with the order it paid for (kind 9734)',
      async run() {
        life.order.json = signOrder(customer, life.couponId, life.order.amountMsat)
        life.claimed = expectGood(await life.redeem(life.second.nonce, minter), 200)
        const { status, claimedAt, zapRequestKept, ...result } = life.claimed
        expectEqual('status', status, 'success')
        expectEqual('zapRequestKept', zapRequestKept, true)
        expectNear('claimedAt', claimedAt, systemClock())
        expectEqual('the nonce', result.nonce, life.second.nonce)
        life.checkVoucher(result, claimedAt)
        return `${status}, event ${abbreviate(result.voucher.id)}`
      },
    },
    {
      title: 'A second claim gets the first time and the same event, and no second benefit',
      async run() {
        const again = expectGood(await life.claimAgain(life.second.nonce), 200)
        const { sig } = again?.voucher ?? {}
        const { zapRequestKept: _kept, ...first } = life.claimed
        // A signature may differ each time (BIP-340 is randomised). The signed event may not.
        const expected = {
          ...first,
          status: 'claimed',
          voucher: { ...first.voucher, sig },
        }
        expectEqual('the answer', again, expected)
        const { status: _, claimedAt, ...result } = again
        life.checkVoucher(result, claimedAt)
        return `${again.status}, event ${abbreviate(again.voucher.id)}`
      },
    },
  ]
}

/** A second voucher is voided, and the books show all of it. */
function bookkeeping(life: DemoLife): Step[] {
  const { client, merchant, minter, terms } = life
  return [
    {
      title: 'The merchant mints one more (Bearer)',
      async run() {
        life.spare = await life.mint(life.asMerchant())
        return `nonce ${abbreviate(life.spare.nonce)}`
      },
    },
    {
      title: 'The merchant lists the issued vouchers: handles, never nonces',
      async run() {
        const path = `/api/coupons/${life.couponId}/mints`
        const { mints, next } = expectGood(await client.call('GET', path, life.asMerchant()), 200)
        if (!Array.isArray(mints)) throw new DemoFailure('there is no list of mints')
        const rows = (mints as Json[]).map((row) =>
          [row?.handle, row?.status, row?.mintedBy, row?.chain].join(' '),
        )
        const [old, successor, extra] = [life.first, life.second, life.spare].map(({ nonce }) =>
          handle(nonce),
        )
        expectEqual(
          'the list',
          [next, rows],
          [
            null,
            [
              `${extra} minted ${merchant.pubkey} ${extra}`,
              `${successor} claimed ${minter.pubkey} ${old}`,
              `${old} refreshed ${minter.pubkey} ${old}`,
            ],
          ],
        )
        return 'one minted, one claimed, one refreshed'
      },
    },
    {
      title: 'The merchant voids the remaining one, by its handle',
      async run() {
        const path = `/api/coupons/${life.couponId}/mints/${handle(life.spare.nonce)}`
        const reply = await client.call('DELETE', path, life.asMerchant())
        const found = expectRemoved(reply, 'voucher-voided')
        if (found !== null) {
          const { handle: name, status, voidedAt } = found.mint ?? {}
          expectEqual('the voucher', [name, status], [handle(life.spare.nonce), 'voided'])
          expectNear('voidedAt', voidedAt, systemClock())
        }
        return `handle ${abbreviate(handle(life.spare.nonce))} voided`
      },
    },
    {
      title: 'A voided nonce is worth nothing',
      async run() {
        const reply = await life.claimAgain(life.spare.nonce)
        expectRefusal(reply, 410, 'voucher-cancelled')
        return reply.json.code
      },
    },
    {
      title: 'The counters add up',
      async run() {
        const found = expectGood(await client.call('GET', '/api/coupons', life.asMerchant()), 200)
        const coupon = found.coupons?.[0]
        const counted = [found.coupons?.length, coupon?.id, coupon?.minted, coupon?.claimed]
        expectEqual('coupons, id, minted, claimed', counted, [1, life.couponId, 1, 1])
        expectEqual('minters', found.minters, [life.minterRow])
        expectEqual('the announcement', found.discovery, life.announcement)
        return '1 minted, 1 claimed: a void gives the slot back'
      },
    },
    {
      title: 'The redemption is on the books, with its order and its till',
      async run() {
        const path = '/api/coupons/redemptions'
        const found = expectGood(await client.call('GET', path, life.asMerchant()), 200)
        const key = handle(life.second.nonce)
        const redemption = {
          handle: key,
          // Rows of a list repeat the handle there. It spends nothing.
          nonce: key,
          claimedAt: life.claimed.claimedAt,
          couponId: life.couponId,
          name: terms.name,
          benefit: terms.benefit,
          order: life.order.json,
          orderId: life.order.json?.id,
          amountMsat: life.order.amountMsat,
          claimedBy: minter.pubkey,
          claimedByNpub: npubOf(minter.pubkey),
          claimedByLabel: 'Caja 1',
        }
        expectEqual('redemptions', found, { redemptions: [redemption], next: null })
        return `order ${abbreviate(redemption.orderId ?? '')}, ${life.order.amountMsat / 1000} sat`
      },
    },
    {
      title: 'The merchant tidies up: announcement, minter and definition',
      async run() {
        const drop = (path: string) =>
          client.call('DELETE', `/api/coupons${path}`, life.asMerchant())
        const removed = { removed: true }
        const announced = expectRemoved(await drop('/discovery'), 'announcement-unknown')
        expectEqual('the announcement', announced ?? removed, removed)
        const listed = expectRemoved(await drop(`/minters/${minter.pubkey}`), 'minter-unknown')
        expectEqual('the minter', listed ?? removed, removed)
        const last = expectGood(await drop(`/${life.couponId}`), 200)
        expectEqual('the definition', last, { deleted: false, archived: true })
        return 'archived, because its vouchers stay on the books'
      },
    },
  ]
}

function announce(merchant: Signer, manager: string, base: string): NostrEvent {
  const from = { origin: base, manager, client: 'cuponera demo', createdAt: systemClock() }
  return merchant.sign(announcementTemplate(from))
}

function signOrder(customer: Signer, couponId: string, amountMsat: number): NostrEvent {
  const tags = [
    ['amount', String(amountMsat)],
    ['coupon', couponId],
  ]
  return customer.sign({ kind: kinds.zapRequest, created_at: systemClock(), tags, content: '' })
}

function handle(nonce: string): string {
  return handleText(handleOf(nonce))
}
