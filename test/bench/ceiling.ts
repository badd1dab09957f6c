/**
 * The ceilings that the product is measured against, as processes of their own; prints its address. Three:
 * - `stack`: the product's own HTTP edge, authentication, schemas, signature and answers, but the operations
 *   keep nothing: no database, no sealing. What any implementation on this stack can reach at most.
 * - `bare`: Elysia alone, with the schema of the request and a constant answer.
 * - `raw`: `Bun.serve` with a constant answer: what the load generator can drive at most.
 */
import { readConfig } from '../../src/app/config.ts'
import { openOrigins } from '../../src/app/origins.ts'
import { systemClock } from '../../src/base/clock.ts'
import { createLog } from '../../src/base/log.ts'
import { Refusal } from '../../src/base/refusal.ts'
import { parseIdempotencyKey } from '../../src/coupons/answer.ts'
import { ClaimModel, MintModel, NonceModel } from '../../src/coupons/models.ts'
import { createNonce, parseNonce } from '../../src/coupons/nonce.ts'
import { claimedResult, mintedResult, voucherView } from '../../src/coupons/voucher.ts'
import { suuidOf } from '../../src/crypto/bytes.ts'
import { openSchnorr } from '../../src/crypto/schnorr.ts'
import { createHashVerifier, createSigner, createVerifier } from '../../src/crypto/sign-event.ts'
import { createAuthenticator } from '../../src/http/auth.ts'
import { Elysia } from '../../src/http/elysia.ts'
import { createMetrics } from '../../src/http/metrics.ts'
import { noRateLimits } from '../../src/http/rate-limit.ts'
import { reply, replyJson } from '../../src/http/reply.ts'
import { contextOf } from '../../src/http/request-context.ts'
import { startServer } from '../../src/http/server.ts'
import { authorThrough, delegationHash } from '../../src/nostr/delegation.ts'
import type { Caller } from '../../src/session/caller.ts'
import { createCutoffs } from '../../src/session/cutoffs.ts'
import { createIdentify } from '../../src/session/identify.ts'
import { createSessions } from '../../src/session/session.ts'
import { openDelegation, sealDelegation } from '../../src/wallet/cards/delegation.ts'
import { TapModel } from '../../src/wallet/cards/models.ts'
import { createKeyDerivation } from '../../src/wallet/cards/tag.ts'
import { openTap, parseTap, tapIsGenuine } from '../../src/wallet/cards/tap.ts'
import { readRequest } from '../../src/wallet/request.ts'
import { benchDefinition, benchKeys } from './fixture.ts'
import { benchDelegation } from './payments.ts'

const schnorr = openSchnorr()
const signer = createSigner(schnorr, benchKeys.COUPON_MANAGER_NSEC)
const merchant = createSigner(schnorr, benchKeys.merchant)
const terms = {
  description: '',
  image: null,
  expiresAt: null,
  rules: null,
  picture: null,
  ...benchDefinition,
}
const issued = { couponId: crypto.randomUUID(), owner: merchant.pubkey, terms }
const previewed = (nonce: string) => ({
  status: 'minted',
  ...voucherView(issued, nonce),
  claimedAt: null,
})

const servers = { stack: startStack, bare: startBare, raw: startRaw }
const start = servers[process.argv[2] as keyof typeof servers]
console.log(`  signatures  ${schnorr.detail}`)
console.log(`  address     ${start()}`)

function startStack(): string {
  const verify = createVerifier(schnorr)
  const sessions = createSessions(benchKeys.SESSION_JWT_SECRET, systemClock, createCutoffs([]))
  const used = new Set<string>()
  const options: Parameters<typeof createAuthenticator<Caller>>[0] = {
    identify: createIdentify({ sessions, verify, now: systemClock }),
    requireOpen: sessions.requireOpen,
    spend: async ({ spend }) => {
      const proofs = {
        async use(id: string) {
          if (used.has(id)) throw new Refusal('auth-replay')
          used.add(id)
          return true
        },
        prune: async () => 0,
      }
      await spend?.({ proofs, afterCommit: () => undefined, tell: () => undefined })
    },
    rateLimits: noRateLimits,
    isKnown: async () => true,
    onUnknownOrigin: () => undefined,
  }
  const auth = createAuthenticator(options)

  const vouchers = new Elysia({ name: 'vouchers', prefix: '/api/coupons' })
    .get('/claim', ({ query }) => replyJson(200, previewed(parseNonce(query.nonce))), {
      query: NonceModel,
    })
    .post('/preview', ({ body }) => replyJson(200, previewed(parseNonce(body.nonce))), {
      body: NonceModel,
    })
    .post(
      '/claim',
      async ({ body }) => {
        const at = systemClock()
        const result = claimedResult(signer, { ...issued, nonce: parseNonce(body.nonce) }, at)
        return reply(200, JSON.stringify({ status: 'success', claimedAt: at, ...result }))
      },
      { body: ClaimModel },
    )
    .post(
      '/refresh',
      async ({ request, body }) => {
        parseIdempotencyKey(request.headers.get('idempotency-key'))
        parseNonce(body.nonce)
        return reply(201, minted())
      },
      { body: NonceModel },
    )
  const delegation = benchDelegation()
  const verifyHash = createHashVerifier(schnorr)
  const cards = new Elysia({ name: 'cards', prefix: '/card' }).post('/pay', ({ request }) => {
    const { event } = readRequest({ verify, now: systemClock }, contextOf(request).object, {
      kinds: [21_111],
      types: null,
      authorOf: (sent) => authorThrough(signer.pubkey, sent, verifyHash),
      invalid: 'card-event-invalid',
      stale: 'card-event-stale',
    })
    // The delegation, the start event, the ledger's answer and two balances.
    const hash = delegationHash(signer.pubkey, delegation.conditions)
    if (!verifyHash(delegation.token, hash, delegation.holder)) throw new Refusal('unavailable')
    const { created_at, tags, content } = event
    for (let at = 0; at < 4; at++) signer.sign({ kind: 1112 + at, created_at, tags, content })
    return replyJson(200, { status: 'OK' })
  })
  const storeKey = Uint8Array.fromHex(benchKeys.STORE_KEY)
  const derivation = createKeyDerivation(Uint8Array.fromHex(benchKeys.CARD_MASTER_KEY))
  const who = { uuid: 'x', holder: delegation.holder }
  const sealed = sealDelegation(storeKey, who, delegation)
  cards.get(
    '/scan',
    ({ query: { p, c } }) => {
      const tap = parseTap(p, c)
      const picc = tap && openTap(tap, derivation.k1)
      const genuine = picc && tapIsGenuine(tap, picc, derivation.k2Of(picc.uid, 1))
      if (!genuine || !openDelegation(storeKey, { ...who, delegation: sealed })) {
        throw new Refusal('tap-invalid')
      }
      const k1 = suuidOf(crypto.randomUUID())
      return replyJson(200, { tag: 'laWallet:withdrawRequest', callback: '', k1, tokens: {} })
    },
    { query: TapModel },
  )
  const management = new Elysia({ name: 'management', prefix: '/api/coupons' })
    .derive({ as: 'local' }, async ({ request }) => ({ caller: await auth.any(request) }))
    .post('/mint', async () => reply(200, minted()), { body: MintModel })

  return startServer({
    hostname: '127.0.0.1',
    port: 0,
    tls: null,
    routes: [vouchers, management, cards],
    sockets: null,
    origins: openOrigins(readConfig(new Map(), {}, false).config),
    rateLimits: noRateLimits,
    metrics: createMetrics(),
    mayReadMetrics: () => false,
    log: createLog('warn', 'json'),
    onForwarded: async () => undefined,
    onUndeclaredProxy: () => undefined,
  }).url
}

function minted(): string {
  const result = mintedResult(signer, { ...issued, nonce: createNonce() }, systemClock())
  return JSON.stringify(result)
}

function startBare(): string {
  const constant = previewed(createNonce())
  const app = new Elysia()
    .get('/api/coupons/claim', () => constant, { query: NonceModel })
    .post('/api/coupons/preview', () => constant, { body: NonceModel })
    .listen({ hostname: '127.0.0.1', port: 0 })
  return `http://127.0.0.1:${app.server?.port}`
}

function startRaw(): string {
  const text = JSON.stringify(previewed(createNonce()))
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: () => new Response(text),
  })
  return `http://127.0.0.1:${server.port}`
}
