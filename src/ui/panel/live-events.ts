/** The latest events of the live stream, kept for this tab: a reload must not empty the list. */
import { signal } from '@preact/signals'
import { asObject } from '../../base/json.ts'
import { parseStored } from '../../client/json.ts'
import type { Definition } from '../../client/models.ts'
import { tab } from '../browser/storage.ts'
import { shownName } from '../words/benefit-text.ts'
import { panelWords as t } from '../words/panel.ts'

const types = ['minted', 'claimed', 'refreshed', 'voided', 'coupon'] as const

/** An event of the live stream about one of this merchant's coupons. */
export type LiveEvent = {
  type: (typeof types)[number]
  couponId: string
  at: number
  handle?: string | null
  count?: number
  mintedBy?: string
}

const place = 'panel:live'
/** The page shows fewer. */
const keptMax = 30

/** Newest first. */
export const liveEvents = signal<readonly LiveEvent[]>(read())

export function keepEvent(event: LiveEvent): void {
  liveEvents.value = [event, ...liveEvents.peek()].slice(0, keptMax)
  tab.write(place, JSON.stringify(liveEvents.peek()))
}

export function forgetEvents(): void {
  liveEvents.value = []
  tab.remove(place)
}

/** The sentence about an event. The stream tells a new coupon and a changed one alike. */
export function sentenceOf({ type, at, count = 1 }: LiveEvent, coupon: Definition): string {
  const { name, benefit, createdAt } = coupon
  const told = type === 'coupon' && at === createdAt ? 'now.created' : (`now.${type}` as const)
  return t(told, { name: shownName(name, benefit), n: count })
}

function read(): LiveEvent[] {
  const list = parseStored(tab.read(place))
  return Array.isArray(list) ? list.filter(isEvent) : []
}

/** Whole entries only: an older build may have stored others. */
function isEvent(value: unknown): value is LiveEvent {
  const { type, couponId, at, count } = asObject(value) ?? {}
  return (
    types.some((known) => known === type) &&
    typeof couponId === 'string' &&
    typeof at === 'number' &&
    (count === undefined || typeof count === 'number')
  )
}
