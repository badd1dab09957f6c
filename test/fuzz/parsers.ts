import { bech32 } from 'bech32'
import { Refusal } from '../../src/base/refusal.ts'
import { parseAnnouncement } from '../../src/coupons/announcement.ts'
import { parseIdempotencyKey } from '../../src/coupons/answer.ts'
import { parseBenefit } from '../../src/coupons/benefit.ts'
import { parseChanges, parseNewDefinition } from '../../src/coupons/definition.ts'
import { parseNonce } from '../../src/coupons/nonce.ts'
import { parsePurchase, parseRules } from '../../src/coupons/rules.ts'
import type { Voucher } from '../../src/coupons/voucher.ts'
import { parseAmountMsat, parseZapRequest } from '../../src/coupons/zap-request.ts'
import { parseSuuid, suuidOf } from '../../src/crypto/bytes.ts'
import { openSchnorr } from '../../src/crypto/schnorr.ts'
import { createHashVerifier } from '../../src/crypto/sign-event.ts'
import { parseBody } from '../../src/http/body.ts'
import { delegationHash } from '../../src/nostr/delegation.ts'
import { eventId, parseEvent } from '../../src/nostr/event.ts'
import { npubOf, parsePubkey, parseSecret } from '../../src/nostr/keys.ts'
import { parseNip05 } from '../../src/nostr/nip05.ts'
import { verifyHttpAuth } from '../../src/nostr/nip98.ts'
import { createUrlRule } from '../../src/outbound/fetch-public.ts'
import { stripPicture } from '../../src/pictures/strip.ts'
import { parseDelegation } from '../../src/wallet/cards/delegation.ts'
import { parseChanges as parseCardWishes } from '../../src/wallet/cards/holders/configure.ts'
import { parseLimit, parseLimits } from '../../src/wallet/cards/limits.ts'
import { parseInvoice } from '../../src/wallet/cards/payments/invoice.ts'
import { createKeyDerivation } from '../../src/wallet/cards/tag.ts'
import { parseNewTag } from '../../src/wallet/cards/tags/initialise.ts'
import { createTap, openTap, parseTap, tapIsGenuine } from '../../src/wallet/cards/tap.ts'
import { readIdentityRequest } from '../../src/wallet/identities/identity-request.ts'
import { parseLud16 } from '../../src/wallet/identities/lud16.ts'
import { parseName } from '../../src/wallet/identities/name.ts'
import { parseAmounts } from '../../src/wallet/ledger/amount.ts'
import { parseTokens, parseTokenText, tokenText } from '../../src/wallet/ledger/token.ts'
import { parseLightningAddress } from '../../src/wallet/transfers/address.ts'
import { parseComment, parseOffer } from '../../src/wallet/transfers/offer.ts'
import { createProof, newSigner, nostrHeader, verifyEvent } from '../support/client.ts'
import { walletObject } from '../support/identities.ts'
import { createInvoice } from '../support/payments.ts'
import { dirty, pngOf } from '../support/pictures.ts'
import type { Random } from './random.ts'
import { anyObject, anyText, anyValue, mutate, mutateText } from './values.ts'

const now = 1_800_000_000
const couponId = '01890a5d-ac96-774b-bcce-b302099a8057'
const nonce = 'AAECAwQFBgcICQoLDA0ODw'
const url = 'https://cupones.example/api/coupons'
const signer = newSigner(new Uint8Array(32).fill(7))
const voucher = { couponId } as Voucher

const benefits = [
  { type: 'percent', percent: 12.5, productDs: ['a', 'b'], cap: { amount: 10, currency: 'ARS' } },
  { type: 'fixed', amount: 100.25, currency: 'USD', productDs: null },
  { type: 'multibuy', buyQty: 3, payQty: 2 },
  { type: 'buyXgetY', buyProductD: 'a', giftProductD: 'b' },
  {
    type: 'freeItems',
    items: [
      { d: 'a', qty: 1 },
      { d: 'b', qty: 2 },
    ],
    cap: null,
  },
]

const rules = {
  startsAt: now + 10,
  times: {
    timeZone: 'America/Argentina/Buenos_Aires',
    windows: [
      { days: [1, 2, 3], from: '15:00', to: '18:00' },
      { days: [6], from: '22:00', to: '02:00' },
    ],
  },
  minimum: { amount: 10_000, currency: 'ARS' },
  conditions: 'Sólo en efectivo\nsin otras promociones',
}

const definition = {
  name: 'Café gratis',
  description: 'Uno por persona\nsin excepción',
  image: 'https://cupones.example/cafe.png',
  benefit: benefits[0],
  maxUses: 100,
  expiresAt: now + 1000,
  rules,
}

const announcement = {
  kind: 30_078,
  created_at: now,
  tags: [
    ['d', 'lacrypta.merchant/coupons'],
    ['p', signer.pubkey],
  ],
  content: JSON.stringify({ v: 2, mintUrl: `${url}/mint`, claimUrl: `${url}/claim` }),
}

const identityRequest = {
  kind: 1112,
  created_at: now,
  tags: [['t', 'create-identity'], ['delegation'], ['nonce', 'x'.repeat(22)]],
  content: JSON.stringify({ name: 'ana', pubkey: signer.pubkey }),
}
const checks = {
  verify: verifyEvent,
  verifyHash: createHashVerifier(openSchnorr()),
  now: () => now,
}
const callbacks = { hosts: ['cupones.example'], usable: createUrlRule() }

const uid = Uint8Array.fromHex('04996c6a926980')
const tagKeys = createKeyDerivation(new Uint8Array(16).fill(9)).keysOf(uid, 1)
const cardLimit = { name: 'Por día', description: '', token: 'PESO', amount: '5000', delta: 86_400 }
/** A card delegation to the fuzzed manager, open now. */
const delegated = (() => {
  const holder = openSchnorr().keypair(new Uint8Array(32).fill(8))
  const conditions = `kind=1112&created_at>${now - 9}&created_at<${now + 9}`
  const hash = Uint8Array.fromHex(delegationHash(signer.pubkey, conditions))
  return { holder: holder.pubkey.toHex(), conditions, token: holder.sign(hash).toHex() }
})()

const zapRequest = { kind: 9734, created_at: now, tags: [['coupon', couponId]], content: '' }

const offered = {
  kind: 20_402,
  created_at: now,
  tags: [
    ['nonce', nonce],
    ['p', signer.pubkey],
    ['coupon', couponId],
    ['phase', 'minted'],
    ['expiration', String(definition.expiresAt)],
  ],
  content: JSON.stringify({
    v: 1,
    nonce,
    owner: signer.pubkey,
    ...definition,
    coupon: benefits[0],
  }),
}

/** A parser with its input; it may return anything, and throw nothing but a `Refusal`. */
type Fuzzed = (random: Random) => unknown

/** Every parser of outside input. Those that return null may not even refuse. */
export const parsers: Record<string, Fuzzed> = {
  parseBenefit(random) {
    const benefit = parseBenefit(fed(random, random.pick(benefits)))
    if (!Bun.deepEquals(parseBenefit(JSON.parse(JSON.stringify(benefit))), benefit)) {
      throw new Error(`not canonical: ${JSON.stringify(benefit)}`)
    }
    return benefit
  },
  parseRules(random) {
    const read = parseRules(fed(random, rules))
    if (!Bun.deepEquals(parseRules(JSON.parse(JSON.stringify(read))), read)) {
      throw new Error(`not canonical: ${JSON.stringify(read)}`)
    }
    return read
  },
  parsePurchase: (random) => parsePurchase(fed(random, rules.minimum)),
  parseNewDefinition(random) {
    return parseNewDefinition(fedObject(random, definition), now)
  },
  parseChanges(random) {
    return parseChanges(fedObject(random, { ...definition, archived: true }))
  },
  parseAnnouncement(random) {
    const facts = {
      author: signer.pubkey,
      manager: signer.pubkey,
      origins: random.pick([[], ['https://cupones.example'], ['not a url', 'http://localhost:1']]),
      now,
      verify: verifyEvent,
    }
    return parseAnnouncement(signedOrNot(random, announcement), facts)
  },
  parseZapRequest(random) {
    const value = random.chance(0.5)
      ? signedOrNot(random, zapRequest)
      : JSON.stringify(signedOrNot(random, zapRequest))
    const text = typeof value === 'string' && random.chance(0.3) ? mutateText(random, value) : value
    return never(() => parseZapRequest(text, voucher, nonce, verifyEvent))
  },
  parseAmountMsat: (random) => never(() => parseAmountMsat(anyValue(random))),
  verifyHttpAuth(random) {
    const target = '/api/coupons?limit=1'
    const method = random.pick(['GET', 'POST', 'PATCH'])
    const proof = createProof(signer, `https://cupones.example${target}`, {
      method,
      createdAt: now + random.pick([0, 60, 61, -60, -61]),
    })
    const event = random.chance(0.3) ? signedOrNot(random, proof) : proof
    const header = nostrHeader(event).slice('Nostr '.length)
    const request = {
      method,
      origins: random.pick([[], ['https://cupones.example'], ['http://127.0.0.1:3000']]),
      target,
      body: random.bytes(random.below(10)),
    }
    const sent = random.pick([header, mutateText(random, header), anyText(random)])
    return verifyHttpAuth(sent, request, now, verifyEvent)
  },
  parseEvent(random) {
    const event = never(() => parseEvent(signedOrNot(random, announcement)))
    // A parsed event must be valid input for the signature engine.
    if (event) eventId(event)
    return never(() => (event ? verifyEvent(event) : null))
  },
  parsePubkey(random) {
    const npub = npubOf(signer.pubkey)
    const text = textLike(random, [npub, `nostr:${npub}`, signer.pubkey, 'nprofile1qqs', 'NPUB1'])
    const key = never(() => parsePubkey(text))
    if (key !== null && !/^[0-9a-f]{64}$/.test(key)) throw new Error(`no key: ${key}`)
    return key
  },
  parseSecret(random) {
    const text = textLike(random, ['nsec1', 'f'.repeat(64), '0'.repeat(64), signer.pubkey])
    return never(() => parseSecret(text))
  },
  parseNip05(random) {
    const text = textLike(random, [
      'ana@example.com',
      'example.com',
      '_@bücher.example',
      'a@1.2.3.4',
    ])
    const name = never(() => parseNip05(text))
    if (name && !URL.canParse(`https://${name.domain}/.well-known/nostr.json?name=${name.name}`)) {
      throw new Error(`no address: ${JSON.stringify(name)}`)
    }
    return name
  },
  parseLightningAddress(random) {
    const known = ['ana@shop.example', 'a+b@Shop.example:8443', 'eva@[::1]', 'x@bücher.example']
    const address = never(() => parseLightningAddress(textLike(random, known)))
    if (!address) return null
    const url = new URL(`https://${address.host}/.well-known/lnurlp/${address.name}`)
    if (url.host !== address.host || !url.pathname.endsWith(`/${address.name}`)) {
      throw new Error(`it leads elsewhere: ${JSON.stringify(address)}`)
    }
    return address
  },
  parseOffer: (random) => parseOffer(signedOrNot(random, offered), nonce, verifyEvent),
  parseInvoice(random) {
    // Any words with a valid checksum reach the decoder's own parsers.
    const words = Array.from({ length: random.below(400) }, () => random.below(32))
    const hrp = random.pick([
      'lnbc',
      'lnbc1',
      'lnbc25m',
      'lnbc1p',
      'lnbc99999999999',
      'lntb1u',
      'ln',
    ])
    const wild = bech32.encode(hrp, words, Number.MAX_SAFE_INTEGER)
    const text = random.pick([createInvoice(), wild, textLike(random, [createInvoice()])])
    const { amount, paymentHash, expiresAt } = parseInvoice(text)
    if (amount <= 0n || !/^[0-9a-f]{64}$/.test(paymentHash) || !Number.isSafeInteger(expiresAt)) {
      throw new Error(`no invoice: ${text}`)
    }
    return paymentHash
  },
  parseAmounts(random) {
    const amounts = never(() => parseAmounts(fed(random, { ARS: 5, BTC: '7' })))
    for (const amount of amounts?.values() ?? []) {
      if (amount <= 0n || amount > 10n ** 18n) throw new Error(`no amount: ${amount}`)
    }
    return amounts
  },
  parseTokens: (random) =>
    never(() => parseTokens(textLike(random, [`ARS:2:${signer.pubkey}`]).split(','))),
  parseTokenText(random) {
    const decimals = random.below(19)
    const amount = never(() => parseTokenText(textLike(random, ['1500.50', '7']), decimals))
    if (amount === null) return null
    const back = parseTokenText(tokenText(amount, decimals), decimals)
    if (back !== amount) throw new Error(`${amount} became ${back}`)
    return amount
  },
  parseComment: (random) => parseComment(random.chance(0.3) ? anyValue(random) : anyText(random)),
  parseNonce: (random) => parseNonce(textLike(random, [nonce])),
  parseIdempotencyKey: (random) =>
    parseIdempotencyKey(random.chance(0.1) ? null : textLike(random, ['una-llave-cualquiera'])),
  readIdentityRequest(random) {
    const tags = identityRequest.tags.filter(([tag]) => tag !== 'delegation' || random.chance(0.2))
    const sent = signedOrNot(random, { ...identityRequest, tags })
    return readIdentityRequest({ ...checks, manager: signer.pubkey }, sent, ['create-identity'])
  },
  parseName(random) {
    const name = parseName(random.chance(0.2) ? anyValue(random) : textLike(random, ['Ana.1_-']))
    if (!/^[a-z0-9._-]{1,64}$/.test(name)) throw new Error(`no name: ${name}`)
    return name
  },
  parseLud16(random) {
    const value = parseLud16(fed(random, walletObject()), callbacks)
    const { protocol = 'https:', host = '' } = value ? new URL(String(value.callback)) : {}
    if (protocol !== 'https:' || host === 'cupones.example') throw new Error(`a way in: ${host}`)
    return value
  },
  parseSuuid(random) {
    const text = textLike(random, [suuidOf(couponId), 'A'.repeat(22), 'D'.repeat(22)])
    const uuid = never(() => parseSuuid(text))
    if (uuid !== null && suuidOf(uuid) !== text) throw new Error(`not the same: ${text} ${uuid}`)
    return uuid
  },
  readTap(random) {
    const { p, c } = createTap({ uid, counter: random.below(0x1000000) }, tagKeys, random.bytes(5))
    const sent = [p, c].map((text) => (random.chance(0.5) ? text : fed(random, text)))
    const tap = never(() => parseTap(sent[0], sent[1]))
    const facts = tap && never(() => openTap(tap, tagKeys.k1))
    if (!tap || !facts) return null
    // A genuine tap is one of ours, byte for byte.
    const genuine = never(() => tapIsGenuine(tap, facts, tagKeys.k2))
    if (genuine && Buffer.compare(facts.uid, uid) !== 0) throw new Error('a tap of another tag')
    return genuine
  },
  parseNewTag: (random) =>
    parseNewTag(fedObject(random, { cid: uid.toHex(), ctr: 5, version: 2, design: { name: 'x' } })),
  parseLimits: (random) =>
    never(() => parseLimits(textLike(random, ['Por día;;PESO;5000;86400', 'a;b;T;1;0:c;;T;2;9']))),
  parseLimit: (random) => never(() => parseLimit(fed(random, cardLimit))),
  parseDelegation(random) {
    const delegation = { conditions: delegated.conditions, token: delegated.token }
    const value = fed(random, delegation)
    return parseDelegation({ ...checks, signer }, value, delegated.holder)
  },
  parseCardChanges: (random) =>
    never(() =>
      parseCardWishes(
        fed(random, {
          'trusted-merchants': [{ pubkey: signer.pubkey }],
          cid: uid.toHex(),
          cards: {
            [couponId]: { cid: uid.toHex(), name: 'x', status: 'ENABLED', limits: [cardLimit] },
          },
        }),
      ),
    ),
  parseBody(random) {
    const valid = JSON.stringify(definition)
    const bytes = random.pick([
      random.bytes(random.below(200)),
      Buffer.from(mutateText(random, valid)),
      Buffer.from('[{"a":'.repeat(random.below(5000))),
      Buffer.from(valid).subarray(0, random.below(valid.length)),
    ])
    return never(() => parseBody(bytes).object)
  },
  stripPicture(random) {
    const sent = fedPicture(random)
    const { bytes } = stripPicture(sent)
    if (bytes.length > sent.length) throw new Error(`it grew: ${sent.toHex()}`)
    if (!Bun.deepEquals(stripPicture(bytes).bytes, bytes)) {
      throw new Error(`something was left to strip: ${sent.toHex()}`)
    }
    return bytes
  },
}

/** Feed a parser `times` values; rejects with whatever it throws that is no refusal, with the seed. */
export async function fuzzParser(
  name: string,
  random: Random,
  times: number,
): Promise<{ accepted: number }> {
  const parse = parsers[name]
  if (!parse) throw new Error(`no parser ${name}`)
  let accepted = 0
  for (let at = 0; at < times; at++) {
    try {
      if ((await parse(random)) !== null) accepted++
    } catch (cause) {
      if (cause instanceof Refusal) continue
      throw new Error(`SEED=${random.seed} ${name}, value ${at}`, { cause })
    }
  }
  return { accepted }
}

/** A picture of which some bytes are others, twice there, or missing. */
function fedPicture(random: Random): Buffer {
  const pictures = [...Object.values(dirty).flatMap(({ sent, kept }) => [sent, kept]), pngOf(9, 9)]
  let bytes = Buffer.from(random.pick(pictures))
  for (let times = random.below(4); times > 0; times--) {
    const [from, to] = [random.below(bytes.length + 1), random.below(bytes.length + 1)]
    if (random.chance(0.6)) bytes[from % (bytes.length || 1)] = random.below(256)
    else bytes = Buffer.concat([bytes.subarray(0, from), bytes.subarray(to)])
  }
  return bytes
}

/** For parsers that return null: they may not even refuse. */
function never<T>(run: () => T): T {
  try {
    return run()
  } catch (cause) {
    throw new Error('it threw', { cause })
  }
}

/** Half of the time something valid with a few mutations, else anything. */
function fed(random: Random, valid: unknown): unknown {
  if (random.chance(0.2)) return anyValue(random)
  let value = valid
  for (let times = random.below(4); times > 0; times--) value = mutate(random, value)
  return value
}

function fedObject(random: Random, valid: Record<string, unknown>): Record<string, unknown> {
  const value = fed(random, valid)
  const usable = typeof value === 'object' && value !== null && !Array.isArray(value)
  return usable ? (value as Record<string, unknown>) : anyObject(random)
}

/** An event, mutated before it was signed, after that, or not at all. */
function signedOrNot(random: Random, template: Record<string, unknown>): unknown {
  const before = random.chance(0.5) ? fedObject(random, template) : template
  const { kind, created_at, tags, content } = before
  const whole = { ...template, kind, created_at, tags, content } as Parameters<
    typeof signer.sign
  >[0]
  const signed = signable(whole) ? signer.sign(whole) : { ...whole, id: '', sig: '' }
  return random.chance(0.4) ? mutate(random, signed) : signed
}

/** Input that `sign` accepts at all; its fields may be nonsense. */
function signable(event: { kind: unknown; tags: unknown }): boolean {
  return typeof event.kind === 'number' && Array.isArray(event.tags)
}

function textLike(random: Random, valid: readonly string[]): string {
  const text = random.chance(0.2) ? anyText(random) : random.pick(valid)
  return random.chance(0.6) ? mutateText(random, text) : text
}
