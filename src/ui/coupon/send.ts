import { systemClock } from '../../base/clock.ts'
import { transfer } from '../../client/transfer.ts'
import { parseEvent } from '../../nostr/event.ts'
import { ask } from '../state/reach.ts'
import type { Held } from './holdings.ts'
import { holdings, look, noteSent } from './state.ts'

export type Sending =
  | { step: 'sending' }
  | { step: 'sent' | 'not-sent' | 'moved' | 'unknown'; to: string; reason: string | null }
  | { step: 'refused'; reason: string | null }

/** Send a coupon to a lightning address, and note the outcome on this device. */
export async function send(held: Held, to: string, comment: string): Promise<Sending> {
  const { nonce } = held
  const earlier = (holdings.find(nonce) ?? held).sent
  const mark = (outcome: 'trying' | 'sent' | 'unknown') => note(nonce, to, outcome)
  // Stored before the request leaves: after a crash the page still warns that the receiver may have it.
  mark('trying')
  const voucher = parseEvent(held.voucher)
  const { outcome, reason } = await transfer(ask, { nonce, voucher, to, comment })
  if (outcome === 'sent' || outcome === 'unknown') mark(outcome)
  // This attempt gave the code to nobody. The receiver of an earlier one may still have it.
  else noteSent(nonce, outcome === 'moved' ? null : earlier)
  const again = earlier?.to.toLowerCase() === to.toLowerCase()
  const failed = outcome === 'refused' || outcome === 'not-sent'
  const step = failed && again ? 'unknown' : outcome
  if (step === 'refused') return { step, reason }
  await look(nonce)
  return { step, to, reason }
}

/** Note that another person has the code from now on, before it leaves. `to`: their number, or empty. */
export function notePassed({ nonce }: Held, to: string): void {
  note(nonce, to, 'unknown')
  void look(nonce)
}

function note(nonce: string, to: string, outcome: 'trying' | 'sent' | 'unknown'): void {
  noteSent(nonce, { to, at: systemClock(), outcome })
}
