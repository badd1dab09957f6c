import { systemClock } from '../../base/clock.ts'
import { transfer } from '../../client/transfer.ts'
import { parseEvent } from '../../nostr/event.ts'
import { ask } from '../state/reach.ts'
import type { Held } from './holdings.ts'
import { holdings, keep, look } from './state.ts'

export type Sending =
  | { step: 'sending' }
  | { step: 'sent' | 'not-sent' | 'moved' | 'unknown'; to: string; reason: string | null }
  | { step: 'refused'; reason: string | null }

/** Send a coupon to a lightning address, and note the outcome on this device. */
export async function send(held: Held, to: string, comment: string): Promise<Sending> {
  const { nonce } = held
  const mark = (outcome: 'trying' | 'sent' | 'unknown' | null) => note(nonce, to, outcome)
  // Stored before the request leaves: after a crash the page still warns that the receiver may have it.
  mark('trying')
  const voucher = parseEvent(held.voucher)
  const { outcome, reason } = await transfer(ask, { nonce, voucher, to, comment })
  mark(outcome === 'sent' || outcome === 'unknown' ? outcome : null)
  if (outcome === 'refused') return { step: 'refused', reason }
  await look(nonce)
  return { step: outcome, to, reason }
}

/** Note that another person has the code from now on, before it leaves. `to`: their number, or empty. */
export function notePassed({ nonce }: Held, to: string): void {
  note(nonce, to, 'unknown')
  void look(nonce)
}

function note(nonce: string, to: string, outcome: 'trying' | 'sent' | 'unknown' | null): void {
  const before = holdings.find(nonce)
  if (before) keep({ ...before, sent: outcome && { to, at: systemClock(), outcome } })
}
