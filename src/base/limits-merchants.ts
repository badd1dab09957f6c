/** Bounds of merchants: how many are let in, how, and what one may add. */
export const merchantLimits = {
  /** Keys that were let in; a service for more takes any key (`MERCHANTS=open`). */
  merchantsMax: 1000,
  /** Owners of coupons that are named to the operator as waiting. */
  waitingMax: 10_000,
  /** Wrong tries that one setup code outlives: of 2^60 codes that is nothing. */
  setupTriesMax: 1000,
  /** The code has 14 characters; people add spaces. */
  setupCodeCharsMax: 64,
  /** A run of the demo takes seconds; one that was killed leaves its key in for so long. */
  guestSeconds: 600,
  /** Vouchers of one merchant in a day, where any key may be one: a shop issues hundreds. */
  vouchersPerDayMax: 10_000,
  /** Vouchers of one merchant that change hands in a day there: twice what it may issue; 1.6 KB each. */
  refreshesPerDayMax: 20_000,
  /** Texts of definitions and announcements, orders of redemptions, answers kept for repeating: in a day. */
  merchantBytesPerDayMax: 32 * 1024 * 1024,
} as const
