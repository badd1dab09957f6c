import { randomBytes } from 'node:crypto'
import { systemClock } from '../base/clock.ts'
import { openSchnorr } from '../crypto/schnorr.ts'
import { createSigner, createVerifier } from '../crypto/sign-event.ts'
import type { NostrEvent, Signer } from '../nostr/event.ts'
import { npubOf } from '../nostr/keys.ts'
import { expectGood, expectVoucher, type Json } from './demo-checks.ts'
import type { createDemoClient } from './demo-client.ts'

const daySeconds = 24 * 60 * 60

type Client = ReturnType<typeof createDemoClient>

/** State of a demo run. A step writes its result here, and later steps compare the server's answers with it. */
export type DemoLife = ReturnType<typeof startLife>

/** Create the state of a run: new keys, the terms of the coupon, and requests that several steps make. */
export function startLife(client: Client, merchant: Signer) {
  const verify = createVerifier(openSchnorr())
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
  const life = {
    client,
    merchant,
    minter: newDemoKey(),
    customer: newDemoKey(),
    terms,
    refreshKey: newKey(),
    order: { json: null as NostrEvent | null, amountMsat: 250_000 },
    manager: '',
    /** The Authorization header that bought the session. */
    proof: undefined as string | undefined,
    bearer: '',
    announcement: null as NostrEvent | null,
    couponId: '',
    minterRow: null as Json,
    first: null as Json,
    refreshed: '',
    second: null as Json,
    claimed: null as Json,
    spare: null as Json,

    asMerchant: () => ({ authorization: life.bearer }),
    /** The fields that every answer about a voucher of this coupon must have. */
    frozen: (nonce: string) => ({
      couponId: life.couponId,
      coupon: terms.benefit,
      name: terms.name,
      description: terms.description,
      npub: npubOf(merchant.pubkey),
      image: terms.image,
      nonce,
      expiresAt: terms.expiresAt,
    }),
    checkVoucher(found: Json, claimedAt?: number): void {
      const signed = { manager: life.manager, owner: merchant.pubkey, claimedAt }
      expectVoucher(found, { ...signed, fields: life.frozen(String(found?.nonce)) }, verify)
    },
    async mint(as: Parameters<Client['call']>[2]): Promise<Json> {
      const call = { ...as, body: { couponId: life.couponId }, idempotencyKey: newKey() }
      const reply = await client.call('POST', '/api/coupons/mint', call)
      const result = expectGood(reply, 200)
      life.checkVoucher(result)
      return result
    },
    /** Redeem an open voucher as the till of a key. */
    redeem: (nonce: string, signer: Signer) =>
      client.call('POST', '/api/coupons/claim', {
        signer,
        idempotencyKey: newKey(),
        body: claimBody(nonce),
      }),
    /** Claim a voucher that is not open any more. */
    claimAgain: (nonce: string) =>
      client.call('POST', '/api/coupons/claim', { harmless: true, body: claimBody(nonce) }),
    refresh: (nonce: string, idempotencyKey: string) =>
      client.call('POST', '/api/coupons/refresh', { body: { nonce }, idempotencyKey }),
  }
  return life

  function claimBody(nonce: string) {
    return { nonce, zapRequest: life.order.json, amountMsat: life.order.amountMsat }
  }
}

/** Create a signer with a random key, which is never stored. */
export function newDemoKey(): Signer {
  return createSigner(openSchnorr(), randomBytes(32))
}

/** Create an Idempotency-Key. */
export function newKey(): string {
  return randomBytes(18).toString('base64url')
}
