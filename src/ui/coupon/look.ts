import type { Tone } from '../parts/notice.tsx'
import type { StatusNow } from './holdings.ts'

/** Colours of statuses. */
export const statusTone: Record<StatusNow, Tone> = {
  minted: 'good',
  claimed: 'idle',
  refreshed: 'moved',
  voided: 'bad',
  expired: 'wait',
  overdue: 'wait',
}
