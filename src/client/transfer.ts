/** Handing a voucher to somebody at a lightning address. */
import type { NostrEvent } from '../nostr/event.ts'
import type { Ask } from './persist.ts'

type Transfer = {
  nonce: string
  /** The signed event, where the holder has it: the other side can check it. */
  voucher: NostrEvent | null
  to: string
  /** Empty for none. */
  comment: string
}

/** `unknown`: nobody knows whether it left. `refused`: the service did not try. */
type TransferOutcome = 'sent' | 'not-sent' | 'moved' | 'unknown' | 'refused'

const outcomes: Record<string, TransferOutcome> = {
  SENT: 'sent',
  NOT_SENT: 'not-sent',
  MOVED: 'moved',
  UNKNOWN: 'unknown',
}

/** The service asks the other side twice before it answers. */
const patienceMs = 40_000

/** Hand a voucher over; `reason` is a sentence of the service or of the other side. */
export async function transfer(
  ask: Ask,
  { nonce, voucher, to, comment }: Transfer,
): Promise<{ outcome: TransferOutcome; reason: string | null }> {
  const asked = { nonce, ...(voucher && { voucher }), to, ...(comment !== '' && { comment }) }
  const { body, status } = await ask('/api/transfer', asked, undefined, { patienceMs })
  const text = body.reason ?? body.error
  const reason = typeof text === 'string' && text !== '' ? text : null
  const told = typeof body.status === 'string' ? outcomes[body.status] : undefined
  // An answer that was lost, or a server that broke down, may have sent it.
  const refused = status >= 400 && status < 500 && status !== 408
  return { outcome: told ?? (refused ? 'refused' : 'unknown'), reason }
}
