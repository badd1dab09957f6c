import { isDeepStrictEqual } from 'node:util'
import { limits } from '../../base/limits.ts'
import { Refusal } from '../../base/refusal.ts'
import { handleOf, handleText } from '../../coupons/nonce.ts'
import { expired } from '../../coupons/voucher.ts'
import { type ReadVoucher, readVoucher } from '../../coupons/voucher-event.ts'
import { seal, unseal } from '../../crypto/seal.ts'
import { createSealToHolder } from '../../crypto/seal-to-holder.ts'
import { type NostrEvent, parseEvent } from '../../nostr/event.ts'
import { keep } from './inbox.ts'
import { type Swapped, swapPostponed, type Transfers } from './service.ts'
import type { Intent } from './transfer-store.ts'

/** Content of an intent, sealed with the store key. */
type IntentContent = {
  nonce: string
  voucher: NostrEvent
  comment: string | null
  /** The Idempotency-Key: the same at every attempt, so that a swap is made once. */
  key: string
}

type IntentBinding = Pick<Intent, 'service' | 'handle' | 'holder'>

/** The content of an intent, sealed for its row alone. */
export function sealIntent(
  storeKey: Uint8Array,
  intent: IntentBinding,
  content: IntentContent,
): Uint8Array {
  return seal(storeKey, bindingOf(intent), JSON.stringify(content))
}

/** `fresh`: this is the first attempt. */
type Attempt = Pick<Intent, 'id' | 'service'> & { fresh: boolean }

/** Try to finish an intent; callers on this node share the outcome of an attempt. */
export function swap(transfers: Transfers, asked: Attempt): Promise<Swapped> {
  const running = transfers.swapping.get(asked.id)
  if (running !== undefined) return running
  const work = attempt(transfers, asked).finally(() => {
    transfers.swapping.delete(asked.id)
  })
  transfers.swapping.set(asked.id, work)
  return work
}

async function attempt(transfers: Transfers, { id, service, fresh }: Attempt): Promise<Swapped> {
  const { database } = transfers
  // Read only now: it may have ended since the caller saw it. A repeat is counted before the nonce leaves, so that
  // the first attempt, which another node may be at, does not decide for both.
  const intent = await (fresh
    ? database.snapshot((tx) => tx.transfers.findIntentById(id))
    : database.transact({ roots: [{ service }] }, (tx) => tx.transfers.repeatIntent(id)))
  if (!intent) return 'gone'
  const content = openIntent(transfers, intent)
  const url = transfers.services.get(intent.service)
  const later = (why: string) => postpone(transfers, intent, content, why)
  if (url === undefined) return later('not in VOUCHER_SERVICES any more')
  const outcome = await transfers.refreshElsewhere(url, content)
  switch (outcome.kind) {
    case 'refused':
      if (!fresh && !outcome.certain) return later('a refusal without a code')
      return drop(transfers, intent, {
        refused: new Refusal(outcome.code),
        nonceSent: true,
        unrepeated: !outcome.certain,
      })
    case 'unsent': {
      const refused = new Refusal('service-silent')
      if (fresh) return drop(transfers, intent, { refused, nonceSent: false, unrepeated: true })
      return later(outcome.why)
    }
    case 'unclear':
      return later(outcome.why)
    case 'answer': {
      const replacement = readReplacement(transfers, intent, content, outcome.body)
      if (!replacement) return later('its answer is not what it must be')
      return store(transfers, intent, content, replacement)
    }
  }
}

type Replacement = ReadVoucher & { event: NostrEvent }

/** The voucher in a service's answer; null unless it is a new one, signed by the service, on the same terms. */
function readReplacement(
  { verify }: Transfers,
  { service }: Intent,
  { nonce: old, voucher }: IntentContent,
  body: Record<string, unknown>,
): Replacement | null {
  const event = parseEvent(body.voucher)
  const before = readVoucher(voucher)
  const after = event && readVoucher(event)
  if (!event || !before || !after) return null
  if (event.pubkey !== service || after.nonce !== body.nonce || after.nonce === old) return null
  const promised = ({ owner, couponId, terms: { benefit, expiresAt }, rules }: ReadVoucher) => {
    return { owner, couponId, benefit, expiresAt, rules }
  }
  if (!isDeepStrictEqual(promised(before), promised(after))) return null
  return verify(event) ? { ...after, event } : null
}

async function store(
  transfers: Transfers,
  intent: Intent,
  content: IntentContent,
  { event, ...replacement }: Replacement,
): Promise<Swapped> {
  const { id, service, handle, holder } = intent
  const { comment } = content
  const sealed = createSealToHolder(holder)?.({ nonce: replacement.nonce, voucher: event })
  if (!sealed) return postpone(transfers, intent, content, 'its answer is too long')
  const from = { service, handle }
  const ref = handleOf(replacement.nonce)
  const plan = { roots: [{ holder }, { service }] }
  const kept = await transfers.database.transact(plan, async (tx) => {
    // Another attempt has stored its answer. Only the caller's next look tells whose it is.
    if ((await tx.transfers.holderOf(from)) !== null) {
      await tx.transfers.removeIntent(id)
      return 'gone'
    }
    // A service that gives out one voucher twice would make two holders believe that it is theirs.
    if (await tx.transfers.hasReplacement({ service, handle: ref })) return null
    // It is stored even if another attempt has ended the intent: nobody else has this answer.
    await tx.transfers.removeIntent(id)
    await keep(
      tx,
      { ...replacement, from, replacement: ref, holder, comment, sealed },
      transfers.now(),
    )
    return 'stored'
  })
  return kept ?? postpone(transfers, intent, content, 'its answer was given before')
}

type Ending = {
  refused: Refusal
  nonceSent: boolean
  /** The outcome tells only of this attempt, so an intent that has had another one stays. */
  unrepeated?: boolean
}

/** Delete an intent that the service refused for good or never received. */
function drop(
  { database }: Transfers,
  { id, service, handle, holder }: Intent,
  { refused, nonceSent, unrepeated = false }: Ending,
): Promise<Swapped> {
  return database.transact<Swapped>({ roots: [{ service }] }, async ({ transfers }) => {
    const ended = unrepeated
      ? await transfers.removeUnrepeated(id)
      : await transfers.removeIntent(id)
    if ((await transfers.holderOf({ service, handle })) === holder) return 'stored'
    if (ended || !unrepeated) return { refused, nonceSent }
    return (await transfers.findIntentById(id)) ? 'open' : 'gone'
  })
}

/**
 * Try again later: the outcome is unknown, and the service may have swapped the voucher. An intent is
 * dropped only after its voucher has expired.
 */
async function postpone(
  transfers: Transfers,
  intent: Intent,
  { voucher }: IntentContent,
  why: string,
): Promise<Swapped> {
  const before = transfers.now() - limits.intentExpiredSeconds
  const terms = readVoucher(voucher)?.terms
  if (terms && expired(terms, before)) {
    transfers.warn('transfer.expired', contextOf(intent, why))
    return drop(transfers, intent, { refused: new Refusal('voucher-expired'), nonceSent: true })
  }
  return (await putOff(transfers, intent, why)) ? 'open' : 'gone'
}

/** Postpone an intent, each time for twice as long. False when it has ended meanwhile. */
export async function putOff(
  { database, now, warn }: Transfers,
  { id, service }: Pick<Intent, 'id' | 'service'>,
  why: string,
): Promise<boolean> {
  const intent = await database.transact({ roots: [{ service }] }, async (tx) => {
    const open = await tx.transfers.findIntentById(id)
    if (!open) return null
    await tx.transfers.postpone(id, now() + waitOf(open, now()))
    tx.tell(swapPostponed, null)
    return open
  })
  if (!intent) return false
  warn('transfer.postponed', { ...contextOf(intent, why), attempts: intent.attempts + 1 })
  return true
}

/** Seconds until the next attempt. */
function waitOf({ attempts, createdAt }: Intent, now: number): number {
  const old = now - createdAt > limits.intentFreshSeconds
  const most = old ? limits.intentOldRetrySeconds : limits.intentRetrySecondsMax
  const wait = Math.min(limits.intentRetrySeconds * 2 ** attempts, most)
  return Math.ceil(wait + Math.random() * wait * limits.intentJitter)
}

function contextOf({ handle, service }: Intent, why: string) {
  return { transfer: handleText(handle), service, why }
}

function openIntent({ couponService }: Transfers, intent: Intent): IntentContent {
  return JSON.parse(
    unseal(couponService.storeKey, bindingOf(intent), intent.sealed),
  ) as IntentContent
}

function bindingOf({ service, handle, holder }: IntentBinding) {
  return { purpose: 'transfer', secret: handleText(handle), key: `${service} ${holder}` } as const
}
