/**
 * Sizes of shared resources, and the share of one owner. When a resource is used up, the owner with the largest
 * share gives some up. Units as in `limits.ts`.
 */
export const shareLimits = {
  /**
   * Requests in flight, which bound the memory. All are taken up to `inFlightMax`; from addresses below their equal
   * share up to `inFlightHardMax`; and `inFlightOfRouteMin` of each route in any case. Calls to other servers have
   * fewer slots. A request that waits for the body of its client does not count.
   */
  inFlightMax: 4096,
  inFlightHardMax: 6144,
  inFlightOfRouteMin: 8,
  /**
   * Bodies that are being received, in bytes kept. A small body counts `bodyWeightMin`, because it holds a
   * connection. Four addresses can fill all, and lose bodies first then.
   */
  bodiesBytesMax: 64 * 1024 * 1024,
  bodiesBytesPerAddressMax: 16 * 1024 * 1024,
  bodyWeightMin: 16 * 1024,
  /**
   * Calls to other servers: running and queued; in all, per far host, and per merchant that causes them. A slow host
   * fills its own share in seconds. To fill all takes dozens of hosts and of merchants.
   */
  nip05Slots: {
    takenMax: 32,
    waitingMax: 64,
    waitMs: 5000,
    of: {
      host: { takenMax: 4, waitingMax: 8 },
      merchant: { takenMax: 4, waitingMax: 8 },
    },
  },
  /** A page shows dozens of pictures, often of one host. Each fetch may take the full picture size in memory. */
  imageSlots: {
    takenMax: 48,
    waitingMax: 256,
    waitMs: 10_000,
    of: {
      host: { takenMax: 4, waitingMax: 48 },
      merchant: { takenMax: 4, waitingMax: 48 },
      address: { takenMax: 8, waitingMax: 64 },
    },
  },
  /** Calls to wallets for an invoice. One host may serve the wallets of many holders. */
  callbackSlots: {
    takenMax: 128,
    waitingMax: 128,
    waitMs: 5000,
    of: {
      host: { takenMax: 16, waitingMax: 16 },
      account: { takenMax: 8, waitingMax: 8 },
    },
  },
  /** Hand-overs to other services. A sender is a client address, which the devices of a shop share. */
  leavingSlots: {
    takenMax: 256,
    waitingMax: 256,
    waitMs: 2000,
    of: {
      host: { takenMax: 32, waitingMax: 64 },
      sender: { takenMax: 32, waitingMax: 64 },
      senderAtHost: { takenMax: 8, waitingMax: 32 },
    },
  },
  /** Swaps at the services that the operator configured. */
  refreshSlots: {
    takenMax: 512,
    waitingMax: 1024,
    waitMs: 2000,
    of: { host: { takenMax: 16, waitingMax: 64 } },
  },
} as const
