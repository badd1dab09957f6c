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

/** Try to finish an intent; callers during an attempt share its outcome. */
export function swap(transfers: Transfers, intentId: number, fresh: boolean): Promise<Swapped> {
  const running = transfers.swapping.get(intentId)
  if (running !== undefined) return running
  const work = attempt(transfers, intentId, fresh).finally(() => {
    transfers.swapping.delete(intentId)
  })
  transfers.swapping.set(intentId, work)
  return work
}

/** `fresh`: this is the first attempt. */
async function attempt(transfers: Transfers, id: number, fresh: boolean): Promise<Swapped> {
  // Read only now: it may have ended since the caller saw it.
  const intent = await transfers.database.snapshot((tx) => tx.transfers.findIntentById(id))
  if (!intent) return 'gone'
  const content = openIntent(transfers, intent)
  const url = transfers.services.get(intent.service)
  const later = (why: string) => postpone(transfers, intent, content, why)
  if (url === undefined) return later('not in VOUCHER_SERVICES any more')
  const outcome = await transfers.refreshElsewhere(url, content)
  switch (outcome.kind) {
    case 'refused':
      if (!fresh && !outcome.certain) return later('a refusal without a code')
      return drop(transfers, intent, new Refusal(outcome.code), true)
    case 'unsent':
      if (fresh) return drop(transfers, intent, new Refusal('service-silent'), false)
      return later(outcome.why)
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
    // A service that gives out one voucher twice would make two holders believe that it is theirs.
    if (await tx.transfers.hasReplacement({ service, handle: ref })) return false
    if (!(await tx.transfers.removeIntent(id))) throw new Error('an intent ended twice')
    await keep(
      tx,
      { ...replacement, from, replacement: ref, holder, comment, sealed },
      transfers.now(),
    )
    return true
  })
  return kept ? 'stored' : postpone(transfers, intent, content, 'its answer was given before')
}

/** Delete an intent that the service refused for good or never received. */
async function drop(
  { database }: Transfers,
  { id, service }: Intent,
  refused: Refusal,
  nonceSent: boolean,
): Promise<Swapped> {
  await database.transact({ roots: [{ service }] }, (tx) => tx.transfers.removeIntent(id))
  return { refused, nonceSent }
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
    return drop(transfers, intent, new Refusal('voucher-expired'), true)
  }
  await putOff(transfers, intent, why)
  return 'open'
}

/** Postpone an intent, each time for twice as long. */
export async function putOff(transfers: Transfers, intent: Intent, why: string): Promise<void> {
  const { id, service, attempts, createdAt } = intent
  const now = transfers.now()
  const old = now - createdAt > limits.intentFreshSeconds
  const most = old ? limits.intentOldRetrySeconds : limits.intentRetrySecondsMax
  const wait = Math.min(limits.intentRetrySeconds * 2 ** attempts, most)
  const jitter = Math.random() * wait * limits.intentJitter
  await transfers.database.transact({ roots: [{ service }] }, async (tx) => {
    await tx.transfers.postpone(id, now + Math.ceil(wait + jitter))
    tx.tell(swapPostponed, null)
  })
  transfers.warn('transfer.postponed', { ...contextOf(intent, why), attempts: attempts + 1 })
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
