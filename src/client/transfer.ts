/** Transfers of a voucher to a lightning address. */
import type { NostrEvent } from '../nostr/event.ts'
import type { Ask } from './persist.ts'

type Transfer = {
  nonce: string
  /** The signed event, if the holder has it. The receiver can verify it. */
  voucher: NostrEvent | null
  to: string
  /** Empty for none. */
  comment: string
}

/** `unknown`: the receiver may have the voucher. `refused`: the service did not send it. */
type TransferOutcome = 'sent' | 'not-sent' | 'moved' | 'unknown' | 'refused'

const outcomes: Record<string, TransferOutcome> = {
  SENT: 'sent',
  NOT_SENT: 'not-sent',
  MOVED: 'moved',
  UNKNOWN: 'unknown',
}

/** The service asks the receiver's service twice before it answers. */
const timeoutMs = 40_000

/** Transfer a voucher. `reason`: a sentence of the service or of the receiver's service. */
export async function transfer(
  ask: Ask,
  { nonce, voucher, to, comment }: Transfer,
): Promise<{ outcome: TransferOutcome; reason: string | null }> {
  const asked = { nonce, ...(voucher && { voucher }), to, ...(comment !== '' && { comment }) }
  const { body, failure } = await ask('POST /api/transfer', asked, undefined, { timeoutMs })
  const text = body.reason ?? body.error
  const reason = typeof text === 'string' && text !== '' ? text : null
  const told = typeof body.status === 'string' ? outcomes[body.status] : undefined
  const refused = failure !== null && !failure.mayHaveSucceeded
  return { outcome: told ?? (refused ? 'refused' : 'unknown'), reason }
}
