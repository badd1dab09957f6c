import { httpStatusOf, Refusal, type RefusalCode, sentenceOf } from '../../base/refusal.ts'
import { handleOf, nonceShaped } from '../../coupons/nonce.ts'
import { mintedResult, refusalFor, statusOf, type Voucher } from '../../coupons/voucher.ts'
import type { NostrEvent } from '../../nostr/event.ts'
import { parseLightningAddress } from './address.ts'
import { parseAnyNonce, parseComment, parseOffer } from './offer.ts'
import { receive } from './receive.ts'
import type { Transfers } from './service.ts'

type Outgoing = {
  nonce: string
  voucher: unknown
  to: string
  comment: unknown
  /** The client's address. */
  sender: string
}

/**
 * `NOT_SENT`: the nonce has not left this process. `MOVED`: it was not accepted, yet it has changed
 * hands. `UNKNOWN`: the other side saw it and did not accept it, and may still take it.
 */
type Sending = {
  status: 'SENT' | 'NOT_SENT' | 'MOVED' | 'UNKNOWN'
  /** One sentence for people. */
  reason?: string
  code?: RefusalCode
}

/** A voucher that is ready to go. */
type Parcel = {
  nonce: string
  comment: string | null
  event: NostrEvent
  /** The service that signed it; null: this one. */
  refreshUrl: string | null
}

/**
 * Hand a voucher to a lightning address; `hosts` are this service's own. Refuses `nonce-invalid`,
 * `field-invalid` (to, comment), `voucher-invalid`, `service-unknown`, `rate-limited`; the answer tells
 * every other outcome.
 */
export async function send(
  transfers: Transfers,
  { nonce: sent, voucher, to, comment: word, sender }: Outgoing,
  hosts: readonly string[],
): Promise<Sending> {
  const nonce = parseAnyNonce(sent)
  const address = parseLightningAddress(to)
  if (!address) throw new Refusal('field-invalid', { field: 'to' })
  const comment = parseComment(word)
  const given = voucher ? parseOffer(voucher, nonce, transfers.verify) : null
  const ours = given === null || given.service === transfers.couponService.signer.pubkey
  const refreshUrl = ours ? null : transfers.services.get(given.service)
  if (refreshUrl === undefined) throw new Refusal('service-unknown')

  const known = ours ? await find(transfers, nonce) : null
  if (ours && !known) return notSent('voucher-unknown')
  const status = known && statusOf(known, transfers.now())
  if (known && status !== 'minted' && status !== 'refreshed') {
    return notSent(refusalFor(known, transfers.now(), 'refresh').code)
  }
  // A voucher that has moved is handed over all the same: a repeat has to get its ACCEPTED again.
  const event = given?.event ?? (known && (await rebuild(transfers, known, nonce)))
  if (!event) throw new Error('a voucher without its event was neither found nor refused')
  const parcel = { nonce, comment, event, refreshUrl }
  if (hosts.includes(address.host)) return settleHere(transfers, parcel, address.name)
  const work = () => handOver(transfers, parcel, address)
  const sending = await transfers.leaving(sender, address.host, work)
  return sending ?? notHandedOver(transfers, parcel, 'overloaded')
}

/** Send to a name of this service: the same operation, without the network. */
async function settleHere(transfers: Transfers, parcel: Parcel, name: string): Promise<Sending> {
  const { nonce, comment, event } = parcel
  try {
    const reception = await receive(transfers, name, { nonce, voucher: event, comment })
    if (reception.accepted) return { status: 'SENT' }
    const { refusal, nonceSent } = reception
    if (await hasMoved(transfers, parcel, nonceSent)) return moved
    return nonceSent ? unknown(sentenceOf(refusal), refusal.code) : notSent(refusal.code)
  } catch (refused) {
    // A thrown refusal comes before any effect.
    if (refused instanceof Refusal && httpStatusOf(refused) < 500) return notSent(refused.code)
    throw refused
  }
}

async function handOver(
  transfers: Transfers,
  parcel: Parcel,
  { name, host }: { name: string; host: string },
): Promise<Sending> {
  const { nonce, comment, event } = parcel
  const found = await transfers.lookUp(name, host)
  if (found.kind !== 'takes') {
    return notHandedOver(transfers, parcel, whyNot[found.kind])
  }
  const word = comment === null ? {} : { comment }
  const json = { action: 'voucher', nonce, voucher: event, ...word }
  const answer = await transfers.handOver(found.callback, json)
  if (answer.kind === 'accepted') return { status: 'SENT' }
  const nonceSent = answer.kind !== 'unsent'
  if (await hasMoved(transfers, parcel, nonceSent)) return moved
  if (!nonceSent) return notSent('address-silent')
  const refusal = new Refusal('transfer-unclear')
  return unknown((answer.kind === 'refused' && answer.reason) || sentenceOf(refusal), refusal.code)
}

/** The voucher was offered to nobody; it may have moved before. */
async function notHandedOver(
  transfers: Transfers,
  parcel: Parcel,
  code: RefusalCode,
): Promise<Sending> {
  return (await hasMoved(transfers, parcel, false)) ? moved : notSent(code)
}

const whyNot = {
  unknown: 'address-unknown',
  silent: 'address-silent',
  'takes-none': 'vouchers-not-taken',
} as const

const moved: Sending = describe('MOVED', 'voucher-refreshed')

function notSent(code: RefusalCode): Sending {
  return describe('NOT_SENT', code)
}

function unknown(reason: string, code: RefusalCode): Sending {
  return { status: 'UNKNOWN', reason, code }
}

function describe(status: Sending['status'], code: RefusalCode): Sending {
  return { status, reason: sentenceOf(new Refusal(code)), code }
}

/** True when the nonce is known to be swapped. Another service is asked only about a nonce that it has seen. */
async function hasMoved(
  transfers: Transfers,
  { nonce, refreshUrl }: Parcel,
  nonceSent: boolean,
): Promise<boolean> {
  if (refreshUrl === null) return (await find(transfers, nonce))?.phase === 'refreshed'
  return nonceSent && (await transfers.previewElsewhere(refreshUrl, nonce)) === 'refreshed'
}

async function find({ database }: Transfers, nonce: string): Promise<Voucher | null> {
  if (!nonceShaped(nonce)) return null
  return database.snapshot((tx) => tx.vouchers.find(handleOf(nonce)))
}

/** The event that the voucher was minted with: same content, same id. */
async function rebuild(
  { database, couponService }: Transfers,
  voucher: Voucher,
  nonce: string,
): Promise<NostrEvent> {
  const { mintedAt } = await database.snapshot((tx) => tx.vouchers.findListed(voucher.rowId))
  return mintedResult(couponService.signer, { ...voucher, nonce }, mintedAt).voucher
}
