/** Bounds of filters and of the embedded relay. */
export const relayLimits = {
  /** Entries of one list in a filter, and characters of its search. */
  filterItemsMax: 1000,
  filterSearchCharsMax: 256,
  /** Lists of one index read for one filter; beyond it a broader index is, and the rest compared. */
  relayCursorsMax: 1000,
  /** Rows counted to find the index with the fewest: enough to tell few from many. */
  relayProbeRows: 1000,
  /** Rows that one question may look at, its filters together: bounds one that matches little among much. */
  relayRowsVisitedMax: 20_000,
  /** A row whose event has more than twice so many characters counts again for each so many: that is what reading it takes. */
  relayRowChars: 512,
  /** Rows read from an index at once: a row holds an event of up to 256 KiB. */
  relayPageRowsMax: 64,
  /** About so many characters of them: where events are large, a page has few. The first one has eight rows. */
  relayPageChars: 512 * 1024,
  relayFirstPageRows: 8,
  /** Events that may come in while a question is being answered. */
  relayWaitingMax: 1000,
  /** What one filter answers at most, and without `limit`. */
  relayLimitMax: 500,
  /** Characters of the events in one answer; the oldest are left out, and found with `until`. */
  relayAnswerCharsMax: 4 * 1024 * 1024,
  /** Largest message a client may send, and an event therefore be. */
  relayMessageBytesMax: 256 * 1024,
  /** A list of contacts has thousands of tags; each costs a write. */
  relayTagsMax: 5000,
  /** Tags are found by their first characters: all of any id or address, but no essay in an index. */
  relayTagCharsMax: 256,
  /** Beyond it the address with the most loses an idle connection. */
  relayConnectionsMax: 1000,
  /** The tills of a shop and the wallets on its Wi-Fi, or of a whole fair; four such addresses leave room. */
  relayConnectionsPerAddressMax: 240,
  /** A connection that has said nothing for this long is the first to go. */
  relaySilentSeconds: 10,
  relaySubscriptionsMax: 50,
  relayFiltersMax: 10,
  /** Filters of all open subscriptions: each is held against every event that comes in. */
  relayOpenFiltersMax: 20_000,
  /** Those of one address: several tills share one, and nobody is to have them all. */
  relayOpenFiltersPerAddressMax: 5000,
  /**
   * Their weight: the characters of their lists, and so many more for each list and entry, which take room
   * however short they are. A feed of a thousand authors weighs 128 000.
   */
  relayFilterEntryWeight: 64,
  relayOpenWeightMax: 32 * 1024 * 1024,
  relayOpenWeightPerAddressMax: 8 * 1024 * 1024,
  relaySubscriptionIdCharsMax: 64,
  /** Keys one connection may prove. */
  relayKeysMax: 20,
  /** What a connection, and all of them, may have unhandled before they are not read from. */
  relayInboxCharsMax: 1024 * 1024,
  relayInboxTotalCharsMax: 32 * 1024 * 1024,
  /** A connection's questions wait while it has this much unread. */
  relayUnreadPauseChars: 512 * 1024,
  /** What may wait for one reader before its connection is closed; above any one answer and any one commit. */
  relayUnreadBytesMax: 16 * 1024 * 1024,
  /** The same for all readers together: a large event for hundreds of them; the slowest goes first. */
  relayUnreadTotalBytesMax: 256 * 1024 * 1024,
  /** Whoever has not caught up for this long, and is sent more, is let go. */
  relaySlowSeconds: 10,
  /** A silent WebSocket is pinged, and closed when nothing comes back. */
  socketIdleSeconds: 120,
  /** An event may be this far ahead of our clock. */
  relayAheadSeconds: 15 * 60,
  /** Age of an authentication (NIP-42), either way. */
  relayAuthSeconds: 10 * 60,
  /** The relay's thread is started again after this, doubling up to the second. */
  relayRestartSeconds: 1,
  relayRestartSecondsMax: 60,
  /** Faults of the relay are logged at most this often: a full disk fails with every event. */
  relayFaultSeconds: 5,
  /** Keys or addresses whose quota of the relay is remembered. */
  relayQuotasMax: 10_000,
  /** Quotas: a burst, and what comes back per second. An event costs one per 4 KiB. */
  relayQuotaBytes: 4096,
  relayKeyBurst: 1000,
  relayKeyPerSecond: 20,
  /** Several tills share an address. */
  relayAddressBurst: 3000,
  relayAddressPerSecond: 60,
  /** Remote signing (NIP-46) by strangers: a conversation of a few messages. */
  relayStrangerBurst: 120,
  relayStrangerPerSecond: 5,
  /** Questions, and messages nobody understands; a question costs one more per thousand rows. */
  relayAskBurst: 600,
  relayAskPerSecond: 30,
  relayAskRows: 1000,
} as const
