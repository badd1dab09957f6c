import { randomBytes } from 'node:crypto'
import { systemClock } from '../base/clock.ts'
import { announcementTemplate } from '../client/announcement.ts'
import { handleOf, handleText } from '../coupons/nonce.ts'
import { openSchnorr } from '../crypto/schnorr.ts'
import { createSigner, createVerifier } from '../crypto/sign-event.ts'
import type { NostrEvent, Signer } from '../nostr/event.ts'
import { npubOf } from '../nostr/keys.ts'
import { kinds } from '../nostr/kinds.ts'
import {
  DemoFailure,
  expectEqual,
  expectGood,
  expectNear,
  expectRefusal,
  expectVoucher,
  type Json,
} from './demo-checks.ts'
import { type createDemoClient, short } from './demo-client.ts'

const daySeconds = 24 * 60 * 60

type Client = ReturnType<typeof createDemoClient>

/** One or a few requests. `run` returns the words for the end of its line of output. */
type Step = { title: string; run: () => Promise<string> }

/** Create a signer with a random key, which is never stored. */
export function newDemoKey(): Signer {
  return createSigner(openSchnorr(), randomBytes(32))
}

/** The steps of a coupon's life. A step throws DemoFailure if the server breaks the protocol. */
export function demoSteps(base: string, client: Client, merchant: Signer): Step[] {
  const verify = createVerifier(openSchnorr())
  const [minter, customer] = [newDemoKey(), newDemoKey()]
  const terms = {
    name: 'Café de la demo',
    description: 'Vale por un descuento en cafetería.',
    image: 'https://example.com/cafe.png',
    benefit: {
      type: 'percent',
      percent: 12.5,
      productDs: ['cafe', 'medialuna'],
      cap: { amount: 1500, currency: 'ARS' },
    },
    expiresAt: systemClock() + daySeconds,
  }
  const refreshKey = newKey()
  const order = { json: null as NostrEvent | null, amountMsat: 250_000 }
  // Results of earlier steps.
  let manager = ''
  let proof = ''
  let bearer = ''
  let announcement: NostrEvent | null = null
  let couponId = ''
  let minterRow: Json
  let first: Json
  let refreshed = ''
  let second: Json
  let claimed: Json
  let spare: Json

  const asMerchant = () => ({ authorization: bearer })
  const frozen = (nonce: string) => ({
    couponId,
    coupon: terms.benefit,
    name: terms.name,
    description: terms.description,
    npub: npubOf(merchant.pubkey),
    image: terms.image,
    nonce,
    expiresAt: terms.expiresAt,
  })
  const checkVoucher = (found: Json, claimedAt?: number) => {
    const signed = { manager, owner: merchant.pubkey, claimedAt }
    expectVoucher(found, { ...signed, fields: frozen(String(found?.nonce)) }, verify)
  }
  const mint = async (as: Parameters<Client['call']>[2]) => {
    const reply = await client.call('POST', '/api/coupons/mint', { ...as, body: { couponId } })
    const result = expectGood(reply, 200)
    checkVoucher(result)
    return result
  }
  const claim = (nonce: string) =>
    client.call('POST', '/api/coupons/claim', {
      body: { nonce, zapRequest: order.json, amountMsat: order.amountMsat },
    })
  const refresh = (nonce: string, idempotencyKey: string) =>
    client.call('POST', '/api/coupons/refresh', { body: { nonce }, idempotencyKey })

  return [
    {
      title: 'Ask for the key that signs vouchers here',
      async run() {
        const found = expectGood(await client.call('GET', '/api/coupons/manager'), 200)
        manager = String(found?.pubkey)
        if (!/^[0-9a-f]{64}$/.test(manager))
          throw new DemoFailure('the manager key is no public key')
        expectEqual('the manager', found, { pubkey: manager, npub: npubOf(manager) })
        return short(npubOf(manager))
      },
    },
    {
      title: 'The merchant trades one signature (NIP-98) for a session',
      async run() {
        proof = client.authorization(merchant, 'POST', '/api/auth/session')
        const call = { authorization: proof }
        const reply = await client.call('POST', '/api/auth/session', call)
        const { token, pubkey, expiresAt, ...rest } = expectGood(reply, 200) ?? {}
        expectEqual('the session', { pubkey, ...rest }, { pubkey: merchant.pubkey })
        expectNear('the end of the session', expiresAt, systemClock() + 12 * 60 * 60)
        bearer = `Bearer ${token}`
        return 'a token for 12 hours'
      },
    },
    {
      title: 'The same signature a second time is refused',
      async run() {
        const call = { authorization: proof }
        const again = await client.call('POST', '/api/auth/session', call)
        expectRefusal(again, 401, 'auth-replay', 'replay')
        return again.json.code
      },
    },
    {
      title: 'The merchant announces where to mint, claim and refresh (kind 30078)',
      async run() {
        announcement = announce(merchant, manager, base)
        const call = { ...asMerchant(), body: { event: announcement } }
        const stored = expectGood(await client.call('PUT', '/api/coupons/discovery', call), 200)
        expectEqual('the stored announcement', stored, { event: announcement })
        return `event ${short(announcement.id)}`
      },
    },
    {
      title: 'The management page of a new merchant: the announcement, nothing else yet',
      async run() {
        const found = expectGood(await client.call('GET', '/api/coupons', asMerchant()), 200)
        const expected = { coupons: [], minters: [], discovery: announcement }
        expectEqual('the overview', found, expected)
        return 'the same event, unchanged'
      },
    },
    {
      title: `The merchant defines "${terms.name}": 12.5 % off, three at most`,
      async run() {
        const call = { ...asMerchant(), body: { ...terms, maxUses: 3 } }
        const { coupon, ...rest } = expectGood(await client.call('POST', '/api/coupons', call), 201)
        couponId = String(coupon?.id)
        const { createdAt, updatedAt, ...fields } = coupon ?? {}
        const counters = { minted: 0, claimed: 0, archivedAt: null }
        expectEqual('the definition', fields, { ...terms, id: couponId, maxUses: 3, ...counters })
        expectEqual('the rest of the answer', rest, {})
        expectNear('createdAt', createdAt, systemClock())
        expectEqual('updatedAt', updatedAt, createdAt)
        return `coupon ${short(couponId)}`
      },
    },
    {
      title: 'The merchant lets another key mint it',
      async run() {
        const npub = npubOf(minter.pubkey)
        const call = { ...asMerchant(), body: { pubkey: npub, label: 'Caja 1' } }
        const found = expectGood(await client.call('POST', '/api/coupons/minters', call), 201)
        minterRow = found?.minter
        const createdAt = minterRow?.createdAt
        const expected = { pubkey: minter.pubkey, npub, label: 'Caja 1', createdAt }
        expectEqual('the minter', found, { minter: expected })
        expectNear('createdAt', createdAt, systemClock())
        return short(npub)
      },
    },
    {
      title: 'The minter sees what it may mint (NIP-98)',
      async run() {
        const call = { signer: minter }
        const found = expectGood(await client.call('GET', '/api/coupons/mintable', call), 200)
        const { nonce: _, couponId: id, ...fields } = frozen('')
        expectEqual('the mintable coupons', found, { coupons: [{ id, ...fields, remaining: 3 }] })
        return 'three remaining'
      },
    },
    {
      title: 'The minter mints a voucher (NIP-98)',
      async run() {
        first = await mint({ signer: minter })
        return `nonce ${short(first.nonce)}, signed by the manager`
      },
    },
    {
      title: 'The customer, who holds the nonce, previews the voucher',
      async run() {
        const body = { nonce: first.nonce }
        const found = expectGood(await client.call('POST', '/api/coupons/preview', { body }), 200)
        const expected = { status: 'minted', ...frozen(first.nonce), claimedAt: null }
        expectEqual('the preview', found, expected)
        return found.status
      },
    },
    {
      title: 'The coupon changes hands: a new nonce, the old one burns',
      async run() {
        const reply = await refresh(first.nonce, refreshKey)
        second = expectGood(reply, 201)
        refreshed = reply.text
        checkVoucher(second)
        if (second.nonce === first.nonce) throw new DemoFailure('the nonce is the old one')
        return `nonce ${short(first.nonce)} → ${short(second.nonce)}`
      },
    },
    {
      title: 'The same key gets the same answer again, as after a lost one',
      async run() {
        const reply = await refresh(first.nonce, refreshKey)
        expectGood(reply, 200)
        if (reply.text !== refreshed) throw new DemoFailure('the answer is not the same bytes')
        return `the same ${Buffer.byteLength(refreshed)} bytes`
      },
    },
    {
      title: 'Another key gets nothing',
      async run() {
        const reply = await refresh(first.nonce, newKey())
        expectRefusal(reply, 409, 'voucher-refreshed')
        return reply.json.code
      },
    },
    {
      title: 'The old nonce is worth nothing',
      async run() {
        const reply = await claim(first.nonce)
        expectRefusal(reply, 410, 'voucher-moved')
        return reply.json.code
      },
    },
    {
      title: 'The till redeems the new one, with the order it paid for (kind 9734)',
      async run() {
        order.json = signOrder(customer, couponId, order.amountMsat)
        claimed = expectGood(await claim(second.nonce), 200)
        const { status, claimedAt, ...result } = claimed
        expectEqual('status', status, 'success')
        expectNear('claimedAt', claimedAt, systemClock())
        expectEqual('the nonce', result.nonce, second.nonce)
        checkVoucher(result, claimedAt)
        return `${status}, event ${short(result.voucher.id)}`
      },
    },
    {
      title: 'A second claim gets the first time and the same event, and no second benefit',
      async run() {
        const again = expectGood(await claim(second.nonce), 200)
        const { sig } = again?.voucher ?? {}
        // A signature may differ each time (BIP-340 is randomised). The signed event may not.
        const expected = { ...claimed, status: 'claimed', voucher: { ...claimed.voucher, sig } }
        expectEqual('the answer', again, expected)
        const { status: _, claimedAt, ...result } = again
        checkVoucher(result, claimedAt)
        return `${again.status}, event ${short(again.voucher.id)}`
      },
    },
    {
      title: 'The merchant mints one more (Bearer)',
      async run() {
        spare = await mint(asMerchant())
        return `nonce ${short(spare.nonce)}`
      },
    },
    {
      title: 'The merchant lists the issued vouchers: handles, never nonces',
      async run() {
        const path = `/api/coupons/${couponId}/mints`
        const { mints, next } = expectGood(await client.call('GET', path, asMerchant()), 200)
        if (!Array.isArray(mints)) throw new DemoFailure('there is no list of mints')
        const rows = (mints as Json[]).map((row) =>
          [row?.handle, row?.status, row?.mintedBy, row?.chain].join(' '),
        )
        const [old, successor, extra] = [first, second, spare].map(({ nonce }) => handle(nonce))
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
        const path = `/api/coupons/${couponId}/mints/${handle(spare.nonce)}`
        const { mint: row } = expectGood(await client.call('DELETE', path, asMerchant()), 200)
        expectEqual('the voucher', [row?.handle, row?.status], [handle(spare.nonce), 'voided'])
        expectNear('voidedAt', row?.voidedAt, systemClock())
        return `handle ${short(handle(spare.nonce))} voided`
      },
    },
    {
      title: 'A voided nonce is worth nothing',
      async run() {
        const reply = await claim(spare.nonce)
        expectRefusal(reply, 410, 'voucher-cancelled')
        return reply.json.code
      },
    },
    {
      title: 'The counters add up',
      async run() {
        const found = expectGood(await client.call('GET', '/api/coupons', asMerchant()), 200)
        const coupon = found.coupons?.[0]
        const counted = [found.coupons?.length, coupon?.id, coupon?.minted, coupon?.claimed]
        expectEqual('coupons, id, minted, claimed', counted, [1, couponId, 1, 1])
        expectEqual('minters', found.minters, [minterRow])
        expectEqual('the announcement', found.discovery, announcement)
        return '1 minted, 1 claimed: a void gives the slot back'
      },
    },
    {
      title: 'The redemption is on the books, with its order',
      async run() {
        const path = '/api/coupons/redemptions'
        const found = expectGood(await client.call('GET', path, asMerchant()), 200)
        const redemption = {
          handle: handle(second.nonce),
          claimedAt: claimed.claimedAt,
          couponId,
          name: terms.name,
          benefit: terms.benefit,
          order: order.json,
          orderId: order.json?.id,
          amountMsat: order.amountMsat,
        }
        expectEqual('redemptions', found, { redemptions: [redemption], next: null })
        return `order ${short(redemption.orderId ?? '')}, ${order.amountMsat / 1000} sat`
      },
    },
    {
      title: 'The merchant tidies up: announcement, minter and definition',
      async run() {
        const drop = async (path: string) =>
          expectGood(await client.call('DELETE', `/api/coupons${path}`, asMerchant()), 200)
        const gone = [await drop('/discovery'), await drop(`/minters/${minter.pubkey}`)]
        expectEqual('withdrawn and removed', gone, [{ removed: true }, { removed: true }])
        const last = await drop(`/${couponId}`)
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

function newKey(): string {
  return randomBytes(18).toString('base64url')
}
