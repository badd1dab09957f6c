import type { Tone } from '../parts/notice.tsx'
import type { Status } from './holdings.ts'

/** Colours of statuses. */
export const statusTone: Record<Status, Tone> = {
  minted: 'good',
  claimed: 'idle',
  refreshed: 'moved',
  voided: 'bad',
  expired: 'wait',
}
