import { createHash, randomBytes } from 'node:crypto'
import { bech32 } from 'bech32'
import type { NostrEvent, Signer } from '../../src/nostr/event.ts'
import { asking, cardEnv, cardEvent, type Holder, manager, newCard, scanPath } from './cards.ts'
import { type Answer, call, type Json, newSigner } from './client.ts'
import { secondsNow } from './clock.ts'
import { createStart, publish } from './ledger.ts'
import type { TestServer } from './server.ts'

/** A service whose manager issues PESO and BTC, and whose cards pay both. */
export const payEnv = { ...cardEnv, RATE_LIMIT: 'off' }

export type PaidCard = { uid: string; uuid: string; holder: Holder; counter: number }

/** A card whose holder has this much of each token. */
export async function newFundedCard(
  server: TestServer,
  tokens: Record<string, number>,
  holder?: Holder,
): Promise<PaidCard> {
  const card = await newCard(server, holder)
  if (Object.keys(tokens).length > 0) await fund(server, card.holder, tokens)
  return { ...card, counter: 1 }
}

/** Issue tokens to a key. */
export async function fund(server: TestServer, to: Signer, tokens: Json): Promise<void> {
  const memo = crypto.randomUUID()
  const start = { ledger: manager.pubkey, from: manager, to: to.pubkey, tokens, memo }
  const { status } = await publish(server.url, createStart(start))
  if (status !== 202) throw new Error(`issuing answered ${status}`)
}

/** Tap a card as a till of this federation does: the k1. */
export async function tap(server: TestServer, card: PaidCard): Promise<string> {
  const path = scanPath(card.uid, card.counter++)
  const { json } = await call(server.url, path, asking('extendedScan'))
  if (!json.k1) throw new Error(`the scan answered ${JSON.stringify(json)}`)
  return json.k1
}

/** Tap a card as any LUD-03 wallet does: the k1. */
export async function tapStandard(server: TestServer, card: PaidCard): Promise<string> {
  const { json } = await call(server.url, scanPath(card.uid, card.counter++))
  if (!json.k1) throw new Error(`the scan answered ${JSON.stringify(json)}`)
  return json.k1
}

/** The request of a till. */
export function payEvent(
  content: Json,
  parts: { signer?: Signer; kind?: number; createdAt?: number } = {},
): NostrEvent {
  return cardEvent('service:withdrawRequest', content, { signer: newSigner(), ...parts })
}

/** POST /card/pay. */
export function pay(server: TestServer, event: NostrEvent): Promise<Answer> {
  return call(server.url, '/card/pay', { body: event })
}

/** GET /card/pay. */
export function payInvoice(server: TestServer, k1: string, pr: string): Promise<Answer> {
  return call(server.url, `/card/pay?k1=${k1}&pr=${encodeURIComponent(pr)}`)
}

/** The state of a k1. */
export async function outcomeOf(server: TestServer, k1: string): Promise<Json> {
  return (await call(server.url, `/card/pay/${k1}`)).json
}

type InvoiceParts = {
  /** As BOLT 11 writes it: `100n` is 10 satoshi. */
  amount?: string
  network?: string
  paymentHash?: string | null
  createdAt?: number
  expiry?: number
}

/** A Lightning invoice (BOLT 11); its signature is nobody's. */
export function createInvoice(parts: InvoiceParts = {}): string {
  const { amount = '100n', network = 'bc', createdAt = secondsNow(), expiry } = parts
  const { paymentHash = randomBytes(32).toString('hex') } = parts
  const tag = (code: number, words: number[]) => [
    code,
    words.length >> 5,
    words.length & 31,
    ...words,
  ]
  const words = [
    ...wordsOf(createdAt, 7),
    ...(paymentHash === null ? [] : tag(1, [...bech32.toWords(Uint8Array.fromHex(paymentHash))])),
    ...tag(13, [...bech32.toWords(new TextEncoder().encode('café'))]),
    ...(expiry === undefined ? [] : tag(6, wordsOf(expiry, 3))),
    ...Array.from({ length: 104 }, () => 1),
  ]
  return bech32.encode(`ln${network}${amount}`, words, Number.MAX_SAFE_INTEGER)
}

function wordsOf(value: number, length: number): number[] {
  return Array.from({ length }, (_, at) => Math.floor(value / 32 ** (length - 1 - at)) % 32)
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
