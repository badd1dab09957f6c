/** Bounds that the pages know, too, apart from the others, which a page need not load. Units as in `limits.ts`. */
export const clientLimits = {
  /** Request body. The largest legitimate one is a benefit with fifty products. */
  bodyBytesMax: 16 * 1024,
  /** Nesting of an untrusted JSON text. An event has 3 levels, the deepest text that we read has 8. */
  jsonDepthMax: 64,
  /** Keys of an untrusted JSON text. A change of a hundred cards has 11 000, an event has 7. */
  jsonKeysMax: 20_000,
  /** Digits of one of its numbers, exponent included. A double has 17 significant digits. */
  jsonDigitsMax: 64,
  /** Nostr event published over HTTP. Relays take no larger ones. */
  publishBytesMax: 256 * 1024,
  /** Text of a key. An nprofile may carry relay hints; the time to decode grows with the length. */
  keyTextMax: 1024,
  /** Cached npubs: many times the keys of one page. About 200 bytes each. */
  npubsCachedMax: 2048,
  /** Text of an answer. The longest is that of five hundred vouchers, some 2 MB. */
  answerBytesMax: 16 * 1024 * 1024,
  /** Age of a kept Idempotency-Key. Its answer lives an hour longer at the service. */
  keySeconds: 24 * 60 * 60,
  nameCharsMax: 80,
  descriptionCharsMax: 500,
  conditionsCharsMax: 500,
  labelCharsMax: 80,
  productCharsMax: 128,
  productsMax: 50,
  itemsMax: 50,
  quantityMax: 100,
  /** Far above any price, and far below the size at which a double loses its second decimal. */
  amountMax: 1_000_000_000_000,
  maxUsesMax: 1_000_000,
  /** Year 9999. A later timestamp is a mistake, such as milliseconds. */
  timestampMax: 253_402_300_799,
  /** Windows of the rules of a coupon: two for each weekday. */
  ruleWindowsMax: 14,
  /**
   * Days searched for the next opening of a coupon. A window of one weekday may fall into the hour that a change of
   * the clock skips, and then opens a week later.
   */
  ruleDaysSearched: 22,
  /** Name of a time zone. The longest of the IANA database has 32 characters. */
  timeZoneCharsMax: 64,
  /** Cached time zones, of which the IANA database has 600. Each costs a fraction of a millisecond to load. */
  timeZonesCachedMax: 600,
  mintCountMax: 500,
  pageMax: 500,
  /** Batches in one answer. Reading their figures must not hold others up. */
  batchesPerPageMax: 20,
  /** Vouchers that a poster gives one key. A key is a browser, and a larger number limits nobody. */
  posterPerPersonMax: 100,
  /** An uploaded picture. The pages send a side of 1200 pixels, which has 50 to 200 KB as JPEG or WebP. */
  pictureBytesMax: 200 * 1024,
  /** Unread output of one live stream before it is ended. */
  liveUnreadBytesMax: 64 * 1024,
  /** Passphrase of the file of a move. The page makes one of eight words. */
  movePassphraseCharsMin: 20,
  /** A piece of that file on its way in. It is short enough for a slow network. */
  movePieceBytesMax: 1024 * 1024,
} as const
