/**
 * What one may hold of what all share, and how much there is of it: when it is used up, whoever has
 * the most makes room. Units as in `limits.ts`.
 */
export const shareLimits = {
  /**
   * Requests worked on at once, by which memory stays bounded: up to the first all, up to the second those
   * of addresses below their equal share, and a few of each route besides. Calls to other servers have
   * fewer places than that; those who wait for their own client do not count.
   */
  inFlightMax: 4096,
  inFlightHardMax: 6144,
  inFlightOfRouteMin: 8,
  /**
   * Bodies on their way, by the bytes that are kept for each; a small one takes a connection, too. Four
   * addresses can fill it, and are those that make room then.
   */
  bodiesBytesMax: 64 * 1024 * 1024,
  bodiesBytesPerAddressMax: 16 * 1024 * 1024,
  bodyWeightMin: 16 * 1024,
  /**
   * Calls to other servers: under way and in line, in all and for each far host and each whom a call is
   * for. A slow host fills its own share in seconds; it takes dozens of them, of as many owners, to fill all.
   */
  nip05Places: {
    takenMax: 32,
    waitingMax: 64,
    waitMs: 5000,
    of: {
      host: { takenMax: 4, waitingMax: 8 },
      merchant: { takenMax: 4, waitingMax: 8 },
    },
  },
  /** A page shows dozens of pictures, often of one host; each that is under way may take its full size of memory. */
  imagePlaces: {
    takenMax: 48,
    waitingMax: 256,
    waitMs: 10_000,
    of: {
      host: { takenMax: 4, waitingMax: 48 },
      merchant: { takenMax: 4, waitingMax: 48 },
      address: { takenMax: 8, waitingMax: 64 },
    },
  },
  /** Wallets asked for an invoice; one host may be the wallet of many holders. */
  callbackPlaces: {
    takenMax: 128,
    waitingMax: 128,
    waitMs: 5000,
    of: {
      host: { takenMax: 16, waitingMax: 16 },
      account: { takenMax: 8, waitingMax: 8 },
    },
  },
  /** Vouchers on their way out. A sender is an address, which a shop may share with who sends to slow servers. */
  leavingPlaces: {
    takenMax: 256,
    waitingMax: 256,
    waitMs: 2000,
    of: {
      host: { takenMax: 32, waitingMax: 64 },
      sender: { takenMax: 32, waitingMax: 64 },
      senderAtHost: { takenMax: 8, waitingMax: 32 },
    },
  },
  /** Swaps at the services that the operator named. */
  refreshPlaces: {
    takenMax: 512,
    waitingMax: 1024,
    waitMs: 2000,
    of: { host: { takenMax: 16, waitingMax: 64 } },
  },
} as const
