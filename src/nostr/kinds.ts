/** Event kinds this program signs or accepts. */
export const kinds = {
  /** Zap request (NIP-57). */
  zapRequest: 9734,
  /** HTTP authorization (NIP-98). */
  httpAuth: 27_235,
  /** Voucher: signed, handed over privately, never published. */
  voucher: 20_402,
  /** A merchant's announcement (NIP-78 application data). */
  announcement: 30_078,
} as const
