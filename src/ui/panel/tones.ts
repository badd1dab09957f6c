import type { Issuance } from '../../client/models.ts'
import type { Tone } from '../parts/notice.tsx'

/** Colours of the statuses of a voucher. */
export const toneOf: Record<Issuance['status'], Tone> = {
  minted: 'accent',
  claimed: 'good',
  refreshed: 'moved',
  voided: 'bad',
  expired: 'idle',
}
