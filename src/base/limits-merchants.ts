/** Bounds of merchants: their number, the setup code, and the quotas of one merchant. */
export const merchantLimits = {
  /** Keys that may manage coupons. A service for more merchants admits any key (`MERCHANTS=open`). */
  merchantsMax: 1000,
  /** Owners of coupons without permission that the operator is shown. */
  waitingMax: 10_000,
  /** Wrong tries before a setup code is replaced. There are 2^60 codes, so a guess stays hopeless. */
  setupTriesMax: 1000,
  /** The code has 14 characters, and people add spaces. */
  setupCodeCharsMax: 64,
  /** Time that the key of a demo run may manage. A run takes seconds; a killed run cannot withdraw its key. */
  guestSeconds: 600,
  /** Vouchers that one merchant mints per day, if any key may be a merchant. A shop issues hundreds. */
  vouchersPerDayMax: 10_000,
  /** Refreshes of one merchant's vouchers per day: twice the number that it may mint. One takes 1.6 KB. */
  refreshesPerDayMax: 20_000,
  /** Bytes of definitions, announcements, orders and kept answers that one merchant adds per day. */
  merchantBytesPerDayMax: 32 * 1024 * 1024,
} as const
