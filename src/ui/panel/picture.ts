import type { Definition } from '../client/wire.ts'

/** A coupon's picture as this service shows it; null without one. */
export function imageOf(_coupon: Definition): string | null {
  return null
}
