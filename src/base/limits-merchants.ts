/** Bounds of merchants: their number, the setup code, the quotas of one merchant, and its pictures. */
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
  /** The part of a merchant's day that visitors can take from its posters. The rest is for the merchant to mint. */
  posterShareOfDay: 0.5,
  /** Refreshes of one merchant's vouchers per day: twice the number that it may mint. One takes 1.6 KB. */
  refreshesPerDayMax: 20_000,
  /** Pixels of a side. Sharp on every screen that shows a coupon, and decoded in 16 MB. */
  pictureSideMax: 2048,
  /** Chunks or segments of a picture. Encoders write dozens; 200 KB of empty ones would take 20 ms to read. */
  picturePartsMax: 1000,
  /** Uploaded pictures of one owner that are in use or new, and their bytes. */
  picturesPerOwnerMax: 200,
  pictureBytesPerOwnerMax: 20 * 1024 * 1024,
  /** All pictures of one owner. Issued vouchers keep theirs: four new coupons a week fill this in ten years. */
  picturesKeptPerOwnerMax: 2000,
  pictureBytesKeptPerOwnerMax: 200 * 1024 * 1024,
  /** Newest revisions that are searched for pictures in use. More would hold other writes up; older ones seldom count. */
  pictureRevisionsMax: 2000,
  /** An uploaded picture that nothing uses is kept for a day: an editor uploads before it saves. */
  pictureUnusedSeconds: 24 * 60 * 60,
  /** Pictures that one step of the sweep deletes. Each is up to 200 KB of the write-ahead log. */
  pictureSweepRowsMax: 20,
  /** Pictures in memory: the ones of a few shops. */
  picturesCachedBytesMax: 4 * 1024 * 1024,
  /** Bytes of definitions, announcements, orders and kept answers that one merchant adds per day. */
  merchantBytesPerDayMax: 32 * 1024 * 1024,
} as const
