import type { Issuance } from '../../client/models.ts'
import type { Tone } from '../parts/notice.tsx'

type ShownStatus = Issuance['status'] | 'expired'

/** Colours of the statuses of a voucher. */
export const toneOf: Record<ShownStatus, Tone> = {
  minted: 'accent',
  claimed: 'good',
  refreshed: 'moved',
  voided: 'bad',
  expired: 'idle',
}

/** The status that people read: an open voucher past its expiry is expired. */
export function shownStatus({ status, expired }: Issuance): ShownStatus {
  return expired ? 'expired' : status
}
