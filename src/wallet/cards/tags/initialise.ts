import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { Refusal } from '../../../base/refusal.ts'
import type { AfterCommit } from '../../../db/database.ts'
import type { NostrEvent } from '../../../nostr/event.ts'
import { npubOf } from '../../../nostr/keys.ts'
import { createResponse, rememberRequest } from '../../request.ts'
import type { Card } from '../card-store.ts'
import { isCardName } from '../card-text.ts'
import { codeMac, firstCode } from '../code.ts'
import { oweNotice } from '../holders/notices.ts'
import {
  answerOnce,
  type CardRequest,
  type Granted,
  readCardRequest,
  requireWriter,
} from '../requests.ts'
import type { CardAdmin, CardStores, Cards } from '../service.ts'
import { keyVersions, parseUid } from '../tag.ts'
import { counterMax } from '../tap.ts'

/** A tag that a writer asks keys for. */
type NewTag = {
  cid: string
  /** Its counter as the writer read it; absent: it has not counted yet. */
  ctr: number | undefined
  /** Version of the keys that are on it already; absent: the next one. */
  version: number | undefined
  design: Card['design'] | null
}

/**
 * POST /ntag424: the keys to write to a tag, and a code to activate its card with. Repeated, the answer is
 * the same; for the very same event it is encrypted to the writer. `secure`: the connection is
 * encrypted or local. Refuses `card-event-invalid`, `card-event-stale`,
 * `card-content-invalid`, `card-writer-only`, `encryption-needed`, `event-repeated`,
 * `card-counter-unknown`, `card-counter-low`, `card-versions-over`.
 */
export async function initialise(
  cards: Cards,
  value: unknown,
  secure: boolean,
): Promise<NostrEvent> {
  const request = readCardRequest(cards, value, { type: 'card-init-request', untyped: true })
  requireWriter(cards, request)
  const tag = parseNewTag(request.content)
  await requireSafeWay(cards, request, secure)
  const answer = await answerOnce(cards, request, 'init', {
    roots: [{ card: tag.cid }],
    grant: async (tx) =>
      answerKeys(cards, request, 'card-init-response', await initialiseTag(cards, tx, tag)),
  })
  cards.keysRead({ cid: tag.cid, reader: npubOf(request.author), why: 'init' })
  return answer
}

/** The tag in a request's content. Refuses `card-content-invalid`. */
export function parseNewTag({ cid, ctr, version, design }: CardRequest['content']): NewTag {
  return {
    cid: parseCid(cid),
    ctr: wholeOf(ctr, 'ctr', [0, counterMax]),
    version: wholeOf(version, 'version', [keyVersions.first, keyVersions.last]),
    design: design === undefined || design === null ? null : parseDesign(design),
  }
}

/** The UID in a request's content, in lower-case hex. Refuses `card-content-invalid`. */
export function parseCid(value: unknown): string {
  const uid = parseUid(value)
  if (!uid) throw new Refusal('card-content-invalid', { field: 'cid' })
  return uid.toHex()
}

/** Make a card of a tag, or find the one that it has. Refuses as `initialise` does, in a transaction. */
export async function initialiseTag(cards: CardAdmin, tx: CardStores & AfterCommit, tag: NewTag) {
  const last = await tx.cards.findByCid(tag.cid)
  const alive = last?.deletedAt === null ? last : null
  const card = alive ? await meetAgain(tx, alive, tag) : await takeIn(cards, tx, tag, last)
  const code = firstCode(cards.storeKey, card.uuid)
  const known = await tx.cards.findCode(codeMac(cards.storeKey, code))
  return {
    ...keysOf(cards, card),
    ctr: card.counter,
    // A code that a writer chose is stored as its MAC alone.
    otc: known && !known.used ? code : null,
    designUuid: card.design.uuid,
  }
}

/** The keys of a card, in hex. */
export function keysOf({ keys }: CardAdmin, { cid, keyVersion }: Pick<Card, 'cid' | 'keyVersion'>) {
  const { k0, k1, k2, k3, k4 } = keys.keysOf(Uint8Array.fromHex(cid), keyVersion)
  return {
    cid,
    k0: k0.toHex(),
    k1: k1.toHex(),
    k2: k2.toHex(),
    k3: k3.toHex(),
    k4: k4.toHex(),
  }
}

/**
 * Keys are sent in clear only over a secure connection. A request over another one may have been
 * overheard: it is used up, so that nobody else can repeat it over a secure one. Refuses `encryption-needed`.
 */
export async function requireSafeWay(
  { database }: Cards,
  request: CardRequest,
  secure: boolean,
): Promise<void> {
  if (secure || wantsEncryption(request)) return
  await database.transact({ roots: [{ event: request.event.id }] }, async ({ requests }) => {
    if (!(await requests.find(request.event.id))) await rememberRequest(requests, request)
  })
  throw new Refusal('encryption-needed')
}

/**
 * The answer with keys: encrypted to the writer where the request has the tag `encrypted`, and always
 * for an event that comes again, since its sender may not be its author.
 */
export function answerKeys(
  { signer, nip44, now }: Cards,
  request: CardRequest,
  type: string,
  value: object,
): Granted {
  const text = JSON.stringify(value)
  const at = now()
  const respond = (content: string) => createResponse(signer, request, { type, content, now: at })
  const again = respond(nip44.encrypt(request.event.pubkey, text))
  return { answer: wantsEncryption(request) ? again : respond(text), again }
}

function wantsEncryption({ event }: CardRequest): boolean {
  return event.tags.some(([name]) => name === 'encrypted')
}

async function meetAgain(tx: CardStores & AfterCommit, card: Card, tag: NewTag): Promise<Card> {
  if (tag.version !== undefined && tag.version !== card.keyVersion) {
    throw new Refusal('card-content-invalid', { field: 'version' })
  }
  if (tag.ctr !== undefined) {
    const confirmed = await tx.cards.confirmCounter(card.id, tag.ctr)
    if (!confirmed && !card.counterKnown) throw new Refusal('card-counter-low')
  }
  if (tag.design) {
    await tx.cards.redesign(card.id, tag.design)
    // Its wallet shows the name of the design.
    if (card.holder !== null) oweNotice(tx, card.holder)
  }
  return (await tx.cards.findById(card.id)) ?? card
}

async function takeIn(
  cards: CardAdmin,
  tx: CardStores,
  tag: NewTag,
  last: Card | null,
): Promise<Card> {
  const next = last ? last.keyVersion + 1 : keyVersions.first
  const version = tag.version ?? next
  if (version < next) throw new Refusal('card-content-invalid', { field: 'version' })
  if (version > keyVersions.last) throw new Refusal('card-versions-over')
  // With keys that may be on the tag already, old taps would pass again from counter zero.
  const mayHaveCounted = version > next || (await tx.facts.find('restored')) !== null
  if (mayHaveCounted && tag.ctr === undefined) throw new Refusal('card-counter-unknown')
  assert.equal(await tx.facts.pin('card-key', cards.keyFingerprint), cards.keyFingerprint)
  const design = tag.design ?? designNamed('Cuponera')
  const at = cards.now()
  const uuid = cards.newId()
  const cardId = await tx.cards.insert({
    uuid,
    cid: tag.cid,
    keyVersion: version,
    counter: tag.ctr ?? 0,
    design,
    name: design.name,
    createdAt: at,
  })
  const mac = codeMac(cards.storeKey, firstCode(cards.storeKey, uuid))
  await tx.cards.linkCode(mac, { cardId, chosen: false, at })
  const card = await tx.cards.findById(cardId)
  if (!card) throw new Error('the card was not inserted')
  return card
}

function parseDesign(value: unknown): Card['design'] {
  if (typeof value !== 'object' || value === null) throw wrong('design')
  const { uuid, name } = value as Record<string, unknown>
  if (uuid === undefined && name === undefined) return designNamed('Cuponera')
  const named = name === undefined ? '' : name
  if (!isCardName(named)) throw wrong('design.name')
  if (uuid === undefined) return designNamed(named)
  if (typeof uuid !== 'string' || !/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(uuid)) {
    throw wrong('design.uuid')
  }
  return { uuid: uuid.toLowerCase(), name: named }
}

/** A design without a UUID has the one of its name (version 8, RFC 9562). */
function designNamed(name: string): Card['design'] {
  const hex = hash('sha256', `card design ${name}`)
  const uuid = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
  return { uuid, name }
}

function wholeOf(
  value: unknown,
  field: string,
  [least, most]: [number, number],
): number | undefined {
  if (value === undefined || value === null) return undefined
  const whole = typeof value === 'number' && Number.isInteger(value)
  if (!whole || value < least || value > most) throw wrong(field)
  return value
}

function wrong(field: string): Refusal {
  return new Refusal('card-content-invalid', { field })
}
