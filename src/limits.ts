/** Every bound put on other people's data, with its reason. Sizes are bytes, times seconds, unless named otherwise. */
export const limits = {
  /** A coupon request is small; the largest legitimate one is a benefit with fifty products. */
  bodyBytesMax: 16 * 1024,
  /** A NIP-98 event is about 600 bytes; this leaves room for long URLs. The whole header value counts. */
  authorizationBytesMax: 8 * 1024,
  /** Bun's own limit answers without envelope or CORS, so it sits far above ours. */
  serverBodyBytesMax: 8 * 1024 * 1024,
  /** A body that trickles in slower than this holds a connection for nothing. */
  bodyReadSeconds: 10,
  /** Idle connections are closed by the server after this. */
  idleSeconds: 30,
  /** Requests in flight at once; beyond it the answer is 503, so that memory stays bounded. */
  inFlightMax: 4096,
  /** A shutdown waits this long for requests in flight. */
  drainSeconds: 8,
  /** After it, idle connections are kept this much longer while the last answers leave. */
  lingerSeconds: 0.2,

  nameCharsMax: 80,
  descriptionCharsMax: 500,
  imageCharsMax: 500,
  labelCharsMax: 80,
  productCharsMax: 128,
  productsMax: 50,
  itemsMax: 50,
  quantityMax: 100,
  /** Far above any price, far below where a double loses its second decimal. */
  amountMax: 1_000_000_000_000,
  maxUsesMax: 1_000_000,
  /** Year 9999: later timestamps are mistakes, such as milliseconds. */
  timestampMax: 253_402_300_799,
  mintCountMax: 500,
  zapRequestCharsMax: 8000,
  definitionsPerOwnerMax: 1000,
  mintersPerOwnerMax: 1000,
  /** What one answer of `mintable` lists at most; how many merchants, and of each: anyone may name a key as minter. */
  mintableMax: 1000,
  mintableMerchantsMax: 200,
  mintablePerMerchantMax: 100,
  pageDefault: 100,
  pageMax: 500,

  /** An nprofile may carry relay hints; nobody needs more than this, and decoding grows with the length. */
  keyTextMax: 1024,
  /** Terms that vouchers froze, kept in memory per connection; about 1 KB each. */
  promisesCachedMax: 1000,
  /** Keys of one page of a list many times over; about 200 bytes each. */
  npubsCachedMax: 2048,
  /** With a name of one letter and the @, this leaves the 253 characters that a host name may have. */
  nip05TextMax: 255,
  /** Ordinary answers carry one or two KiB of headers; this much is held per request. */
  outboundHeaderBytesMax: 8192,
  /** One try, and one more for a lost datagram; the deadline of the request stands above both. */
  dnsTryMs: 1000,

  dnsTriesMax: 2,
  /** Long enough for a slow shop's server, short enough for the person who waits (protocol: 5 s). */
  nip05DeadlineMs: 5000,
  /** A document of several hundred names; ours is asked for one (protocol: 64 KiB). */
  nip05BodyBytesMax: 64 * 1024,
  /** Sockets that slow servers can hold at the same time. */
  nip05LookupsMax: 8,
  /** Callers that may stand in line behind them. */
  nip05WaitingMax: 32,
  /** Once in line this long, an honest "busy" serves the person better. */
  nip05WaitMs: 5000,

  /** NIP-98 clock tolerance, either way. */
  proofWindowSeconds: 60,
  /** An announcement may be this far ahead of our clock. */
  announcementAheadSeconds: 15 * 60,
  sessionSeconds: 12 * 60 * 60,
  /** Verified session tokens kept, so that a busy till does not pay for the JWT each time. */
  sessionCacheMax: 10_000,
  /** Stored answers of the optional Idempotency-Key are kept at least 24 h. */
  answerSeconds: 25 * 60 * 60,

  /** Operations of one commit: enough to share the sync, few enough to keep the loop responsive. */
  batchMax: 128,
  /** An operation that writes more rows than this is heavy; how many of those may wait. */
  lightRowsMax: 20,
  heavyQueueMax: 200,
  /** What the WAL file keeps of its size after a checkpoint. */
  journalBytesMax: 64 * 1024 * 1024,
  /** Operations waiting for a commit; beyond it the answer is 503. */
  queueMax: 10_000,
  /** Rows one step of background work touches. */
  sweepRowsMax: 500,
  /** Between two rounds of marking and pruning. */
  housekeepingSeconds: 60,
  /** A clock may step back this far (NTP corrects small drifts) before writes are refused. */
  clockBackSeconds: 10,

  /** Rows one statement of the check looks at, so that it can pause or stop between two. */
  checkSliceRows: 2000,
  /** Problems a check lists; the rest is only counted. */
  checkProblemsMax: 100,
  /** Checks and backups of a running server wait for each other; more than this are refused. */
  maintenanceJobsMax: 8,
  /** A control request is a file name and a flag. */
  controlBodyBytesMax: 64 * 1024,
  /** A server that does not answer its control socket in this time is said not to answer. */
  controlAnswerSeconds: 3,
  /** `cuponera health` says yes or no within this, both of its steps together. */
  healthSeconds: 3,
  passphraseCharsMin: 8,
  /** Far above any passphrase; a file named by mistake must not be read whole. */
  passphraseBytesMax: 4096,
  /** A file of exported keys is below 1 KiB. */
  keyFileBytesMax: 64 * 1024,
  /** The most scrypt may be told to take by a file: 1 GiB (N 2^20, r 8). */
  scryptCostMax: 2 ** 20,
} as const
