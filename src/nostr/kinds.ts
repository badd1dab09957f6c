/** Event kinds that this program signs or accepts. */
export const kinds = {
  /** Profile of a key (NIP-01). */
  profile: 0,
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
  /** Voucher. It is handed over privately and never published. */
  voucher: 20_402,
  /** LaWallet events that relays keep (payments, identities). The first `t` tag names the type. */
  walletRegular: 1112,
  /** LaWallet requests and answers, which nobody keeps. The first `t` tag names the type. */
  walletEphemeral: 21_111,
  /** LaWallet events that a newer one replaces, such as balances. */
  walletAddressable: 31_111,
  /** A merchant's announcement (NIP-78 application data). */
  announcement: 30_078,
} as const
