/** Event kinds this program signs or accepts. */
export const kinds = {
  /** Deletion request (NIP-09). */
  deletion: 5,
  /** Zap request (NIP-57). */
  zapRequest: 9734,
  /** Client authentication to a relay (NIP-42). */
  clientAuth: 22_242,
  /** Remote signing (NIP-46). */
  remoteSigning: 24_133,
  /** HTTP authorization (NIP-98). */
  httpAuth: 27_235,
  /** Voucher: signed, handed over privately, never published. */
  voucher: 20_402,
  /** LaWallet: what is kept (payments, identities); the first `t` says which. */
  walletRegular: 1112,
  /** LaWallet: requests and answers that nobody keeps; the first `t` says which. */
  walletEphemeral: 21_111,
  /** LaWallet: what the newest replaces, such as balances. */
  walletAddressable: 31_111,
  /** A merchant's announcement (NIP-78 application data). */
  announcement: 30_078,
} as const
