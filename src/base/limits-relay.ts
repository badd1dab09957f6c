/** Bounds of filters and of the embedded relay. */
export const relayLimits = {
  /** Entries of one list in a filter, and characters of its `search`. */
  filterItemsMax: 1000,
  filterSearchCharsMax: 256,
  /** Ranges of one index that one filter reads. A filter with more reads a broader index and compares the rest. */
  relayCursorsMax: 1000,
  /** Rows counted per index, to choose the one with the fewest. Enough to tell few from many. */
  relayProbeRows: 1000,
  /** Rows that one REQ may read with all its filters. It bounds filters that match few of many rows. */
  relayRowsReadMax: 20_000,
  /** Characters that count as one row. An event of more than twice as many counts as several rows. */
  relayRowChars: 512,
  /** Rows read from an index at once. A row holds an event of up to 256 KiB. */
  relayPageRowsMax: 64,
  /** Target size of one page, so that a page of large events has few rows. The first page has eight rows. */
  relayPageChars: 512 * 1024,
  relayFirstPageRows: 8,
  /** New events that are queued for a subscription while its stored events are sent. */
  relayWaitingMax: 1000,
  /** Events per filter, also the default without `limit`. */
  relayLimitMax: 500,
  /** Characters of the events in one answer. The oldest are omitted; a client finds them with `until`. */
  relayAnswerCharsMax: 4 * 1024 * 1024,
  /** Largest message of a client, and therefore the largest event. */
  relayMessageBytesMax: 256 * 1024,
  /** A content with the rest of its event, if it has no escapes, fits into a message. */
  relayContentCharsMax: 255 * 1024,
  /** A contact list (NIP-02) has thousands of tags; so many with a key each fit into a message. Each tag costs a write. */
  relayTagsMax: 3500,
  /** Indexed characters of a tag. Any id or address fits, but no long text. */
  relayTagCharsMax: 256,
  /** Connections. Above it, the address with the most loses an idle one. */
  relayConnectionsMax: 1000,
  /** Tills and wallets of a shop, or of a fair, share one address. Four such addresses leave room for others. */
  relayConnectionsPerAddressMax: 240,
  /** A connection that has been silent for this long is closed first. */
  relaySilentSeconds: 10,
  relaySubscriptionsMax: 50,
  relayFiltersMax: 10,
  /** Filters of all open subscriptions. Each is compared with every new event. */
  relayOpenFiltersMax: 20_000,
  /** Filters of one address. Several tills share an address, but one address must not take all. */
  relayOpenFiltersPerAddressMax: 5000,
  /**
   * Weight of filters: the characters of their lists, plus this for each list and entry, which need memory even if
   * short. A feed of a thousand authors weighs 128 000.
   */
  relayFilterEntryWeight: 64,
  relayOpenWeightMax: 32 * 1024 * 1024,
  relayOpenWeightPerAddressMax: 8 * 1024 * 1024,
  relaySubscriptionIdCharsMax: 64,
  /** Keys that one connection may authenticate (NIP-42). */
  relayKeysMax: 20,
  /** Unhandled input of one connection, and of all. Above it, the sockets are not read (backpressure). */
  relayInboxCharsMax: 1024 * 1024,
  relayInboxTotalCharsMax: 32 * 1024 * 1024,
  /** The REQs of a connection wait while it has this much unread output. */
  relayUnreadPauseChars: 512 * 1024,
  /** Unread output of one connection before it is closed. Larger than any answer and any commit. */
  relayUnreadBytesMax: 16 * 1024 * 1024,
  /** Unread output of all connections: a large event for hundreds of them. The slowest is closed first. */
  relayUnreadTotalBytesMax: 256 * 1024 * 1024,
  /** A connection that has had unread output for this long, and gets more, is closed. */
  relaySlowSeconds: 10,
  /** A silent WebSocket is pinged, and closed if no answer comes. */
  socketIdleSeconds: 120,
  /** Furthest `created_at` ahead of this machine's clock. */
  relayAheadSeconds: 15 * 60,
  /** Clock tolerance of an authentication event (NIP-42), in both directions. */
  relayAuthSeconds: 10 * 60,
  /** Backoff before the relay's thread is restarted: first delay and maximum. It doubles. */
  relayRestartSeconds: 1,
  relayRestartSecondsMax: 60,
  /** Faults of the relay are logged at most this often. On a full disk every event fails. */
  relayFaultSeconds: 5,
  /** Keys or addresses whose token buckets are kept. */
  relayQuotasMax: 10_000,
  /** Token buckets for events (burst, refill per second). An event costs one token per 4 KiB. */
  relayQuotaBytes: 4096,
  relayKeyBurst: 1000,
  relayKeyPerSecond: 20,
  /** Token bucket per address. Several tills share one. */
  relayAddressBurst: 3000,
  relayAddressPerSecond: 60,
  /** Token bucket for remote signing (NIP-46) by strangers, which takes a few messages. */
  relayStrangerBurst: 120,
  relayStrangerPerSecond: 5,
  /** Token bucket for REQ, COUNT and invalid messages. A REQ costs one more token per thousand rows read. */
  relayAskBurst: 600,
  relayAskPerSecond: 30,
  relayAskRows: 1000,
} as const
