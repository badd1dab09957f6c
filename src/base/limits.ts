import { clientLimits } from './limits-client.ts'
import { merchantLimits } from './limits-merchants.ts'
import { processLimits } from './limits-process.ts'
import { relayLimits } from './limits-relay.ts'
import { shareLimits } from './limits-shares.ts'

/** All bounds of untrusted data, with their reasons. Sizes in bytes, times in seconds, unless the name says else. */
export const limits = {
  /** `Authorization` header. A NIP-98 event has about 600 bytes, more with a long URL. */
  authorizationBytesMax: 8 * 1024,
  /** Keys that a rate limit remembers, such as addresses. The least recently used one is dropped. */
  rateEntriesMax: 20_000,
  /** Bun's own body limit. It answers without envelope or CORS, so it is far above ours. */
  serverBodyBytesMax: 8 * 1024 * 1024,
  /** Chunks of one body. Each costs a turn of the event loop; 262 144 chunks of one byte took half a second. */
  bodyChunksMax: 4096,
  /** Time for a body to arrive. A slower one only holds a connection. */
  bodyReadSeconds: 10,
  /** The server closes a connection that is idle for this long. */
  idleSeconds: 30,
  /** Time that a shutdown waits for requests in flight. */
  drainSeconds: 8,
  /** After that, connections stay open for this long, so that the last answers are sent. */
  lingerSeconds: 0.2,
  /** Time for which a restart after a move waits for its port, if another program took it meanwhile. */
  restartSeconds: 30,

  imageCharsMax: 500,
  /** Vouchers of one batch. Its figures are counted by reading, and all of it is voided in one transaction. */
  batchVouchersMax: 1000,
  batchesPerDefinitionMax: 1000,
  zapRequestCharsMax: 8000,
  definitionsPerOwnerMax: 1000,
  mintersPerOwnerMax: 1000,
  /** Posters of one owner, which one answer lists. A shop has a few at a time. */
  postersPerOwnerMax: 200,
  /**
   * Definitions in one answer of `mintable`, the merchants read for it, and definitions of each. Any merchant may
   * list any key as minter, so the work must not grow with their number.
   */
  mintableMax: 1000,
  mintableMerchantsMax: 200,
  mintablePerMerchantMax: 100,
  /** Merchants in one answer of `authorizations`, of each kind. Any merchant may list any key. */
  authorizationsMax: 200,
  pageDefault: 100,
  /** Days in one question for statistics, and the default without `from`. */
  statisticsDaysMax: 366,
  statisticsDaysDefault: 30,
  /** Days with counts before a page of statistics ends. The current coupon is completed. A day has up to 24 rows. */
  statisticsRowsMax: 1000,
  /** Picture of a coupon. Enough for a good photograph on a phone. */
  imageBytesMax: 1024 * 1024,
  imageDeadlineMs: 10_000,
  /** All pictures on disk. The least recently used ones are deleted first. */
  imagesBytesMax: 128 * 1024 * 1024,
  /** Time before a failed picture is fetched again, and the number of failures remembered. */
  imageFailureSeconds: 60,
  imageFailuresMax: 10_000,
  /** Live streams of one key (several windows of a merchant), and of all. Each is a connection. */
  livePerKeyMax: 8,
  liveMax: 500,
  /** Live streams of one address, which the merchants of a building may share. Four such addresses leave room. */
  livePerAddressMax: 100,
  /** Heartbeat of live streams. Shorter than the idle time of the server and of proxies (60 s). */
  liveBeatSeconds: 15,
  /** Changes of the live stream are collected for this time, and a batch shows up to `liveBatchMax` one by one. */
  liveBatchMs: 100,
  liveBatchMax: 100,

  /** Frozen terms in memory, per database connection. About 1 KB each. */
  frozenTermsCachedMax: 1000,
  /** NIP-05 identifier: a name of one letter, the @, and a host name of up to 253 characters. */
  nip05TextMax: 255,
  /** Headers of another server's answer, kept per request. Ordinary answers have one or two KiB. */
  outboundHeaderBytesMax: 8192,
  /** DNS tries: one, and one more for a lost datagram. The deadline of the request is longer than both. */
  dnsTryMs: 1000,
  dnsTriesMax: 2,
  /** Long enough for a slow server, short enough for a person who waits (protocol: 5 s). */
  nip05DeadlineMs: 5000,
  /** A NIP-05 document with several hundred names (protocol: 64 KiB). */
  nip05BodyBytesMax: 64 * 1024,

  /** NIP-98 clock tolerance, in both directions. */
  proofWindowSeconds: 60,
  /** Furthest `created_at` of an announcement ahead of this machine's clock. */
  announcementAheadSeconds: 15 * 60,
  sessionSeconds: 12 * 60 * 60,
  /** A cut-off of sessions is kept as long as a session lasts, and an hour more for corrected clocks. */
  sessionCutoffSeconds: 13 * 60 * 60,
  /** Cached session tokens that were verified, so that a busy till does not verify its JWT on each request. */
  sessionCacheMax: 10_000,
  /** Time that answers of the optional Idempotency-Key are kept (protocol: at least 24 h). */
  answerSeconds: 25 * 60 * 60,

  /** Clock tolerance of a request event of the wallet routes, in both directions. */
  requestWindowSeconds: 180,
  /** Granted requests that are remembered for that time. Each is an event id and an answer. */
  requestsMax: 200_000,
  /** Above this number, requests of strangers are no longer taken. The other half is for known keys. */
  requestsOfStrangersMax: 100_000,
  /** Length of a nonce that an issuer proposes. As hard to guess as ours, and short enough for a URL. */
  proposedNonceCharsMin: 22,
  proposedNonceCharsMax: 128,
  /** Unused registration nonces of one issuer, and their lifetime. */
  openNoncesMax: 10_000,
  openNonceSeconds: 365 * 24 * 60 * 60,
  /** Those of open sign-up. A wallet uses one within minutes. */
  signupNonceSeconds: 60 * 60,

  /** Answer of a wallet to LUD-16. About 1 KiB, more with a picture in its metadata. */
  lud16BytesMax: 12 * 1024,
  lud16DepthMax: 4,
  callbackCharsMax: 1000,
  /** Comment of a payer (LUD-12), or a zap request (NIP-57). */
  paymentFieldCharsMax: 8000,
  /** LUD-06 bounds of an account without a wallet, in millisatoshi: any ordinary payment. */
  offeredPaymentMsat: { least: 1000, most: 10_000_000_000 },
  /** Time for a wallet to answer with an invoice. It may have to ask its own node. */
  callbackDeadlineMs: 10_000,
  callbackBodyBytesMax: 64 * 1024,

  /** A voucher with its event, as JSON inside JSON. */
  transferBytesMax: 64 * 1024,
  commentCharsMax: 200,
  /** Spendable vouchers of one holder. Of one merchant fewer, so that no merchant fills the inbox. */
  inboxUnspentMax: 100,
  inboxPerMerchantMax: 20,
  /** All vouchers of one holder. Above it, the oldest spent or expired ones are deleted. */
  inboxRowsMax: 200,
  /** Open swaps at one service, so that a broken service leaves room for others. */
  intentsPerServiceMax: 1000,
  /** A swap belongs to its request for this long. Then it is retried in the background, with backoff. */
  intentFirstSeconds: 30,
  intentRetrySeconds: 5,
  intentRetrySecondsMax: 60 * 60,
  intentJitter: 0.2,
  /** An older swap is retried once a day and takes no room of its holder. It is never dropped. */
  intentFreshSeconds: 30 * 24 * 60 * 60,
  intentOldRetrySeconds: 24 * 60 * 60,
  /** A voucher that expired this long ago is expired by any clock, and so is its successor. */
  intentExpiredSeconds: 24 * 60 * 60,
  /** Swaps that are retried at one service at the same time. */
  resumesMax: 8,
  /** The longest sleep of the job that retries swaps. */
  resumeNapSeconds: 60,
  /** Deadlines of one transfer. Together they end before an idle connection is closed. */
  addressDeadlineMs: 8000,
  addressBodyBytesMax: 64 * 1024,
  handOverDeadlineMs: 14_000,
  handOverBodyBytesMax: 16 * 1024,
  /** Shorter than the hand-over that waits for it. NIP-44 encrypts up to 65 535 bytes. */
  refreshDeadlineMs: 8000,
  refreshBodyBytesMax: 60 * 1024,
  previewDeadlineMs: 3000,
  /** Token bucket of vouchers that arrive for one name. A shop may give one to each guest of an evening. */
  arrivingRate: { burst: 60, perSecond: 0.5 },
  /** Token bucket of vouchers that one address sends away. Each costs two requests to other servers. */
  leavingRate: { burst: 60, perSecond: 0.5 },
  transferRatesMax: 20_000,
  /** Length of another service's message that is shown. */
  foreignReasonCharsMax: 300,
  voucherServicesMax: 100,

  /** Events that wait for relays, their bytes, and the share of both that strangers may fill. */
  outboxEventsMax: 200_000,
  outboxBytesMax: 1024 * 1024 * 1024,
  outboxOpenShare: 0.9,
  /** Time that an event is retried. An ephemeral one is useless sooner. */
  deliverySeconds: 72 * 60 * 60,
  ephemeralSeconds: 60,
  /** Time that the status of an event is kept. */
  outboxKeptSeconds: 7 * 24 * 60 * 60,
  /** In-flight slots of one relay. An event holds one until its answer, or for `relayPlaceSeconds`. */
  relayInFlightMax: 64,
  /** An event holds its slot for this long, because a relay may never answer a kind that it ignores. */
  relayPlaceSeconds: 1,
  /** Characters of all unanswered events of a relay, with or without a slot. It bounds the memory. */
  relayUnansweredCharsMax: 16 * 1024 * 1024,
  /** Token buckets per key and per address (burst, refill per second). Above them, deliveries get low priority. */
  publishKeyBurst: 20,
  publishKeyPerSecond: 1,
  publishAddressBurst: 100,
  publishAddressPerSecond: 5,
  /** Share of the slots for low priority, and for events that failed before. */
  relayLaterShare: 0.5,
  relayConnectSeconds: 10,
  relayAnswerSeconds: 10,
  /** A poison event that failed this often is retried seldom. */
  poisonAttempts: 3,
  /** One poison event is retried this often, even under load. */
  poisonTurnSeconds: 60,
  /** Events of one connection whose late answer is still accepted. */
  relayLateMax: 1000,
  /** Length of a relay's message that is stored and shown. */
  relayErrorCharsMax: 200,
  /** A remote relay is pinged this often. Its connection is closed if nothing came since the last ping. */
  relayPingSeconds: 30,
  /** A connection that lasted this long was good: the next one is tried without backoff. */
  relayStableSeconds: 60,
  /** Time to resolve the host name of a relay. */
  relayNameSeconds: 2,
  /** Invalid or unrequested events of one connection. Above it, the relay is treated as hostile. */
  relayWrongMax: 100,
  /** Unrequested messages in `relayStraySeconds`. Above it, the connection is closed. */
  relayStrayMax: 1000,
  relayStraySeconds: 10,
  /** NIP-42 challenges. A challenge is a random word, and a connection has one or two. */
  relayChallengeCharsMax: 256,
  relayChallengesMax: 10,
  /** Subscriptions at one remote relay, and one more for announcements. Most relays allow twenty. */
  relayQueriesMax: 16,
  /** Queries that timed out and that a relay may still be answering. */
  relayLeftMax: 64,
  /** Delay before a subscription that a relay closed is opened again. */
  relayResubscribeSeconds: 60,
  /** Longest sleep of a courier, because clocks jump. */
  courierNapSeconds: 60,
  /** Announcements in one REQ to a relay, and seconds between two such rounds. */
  announcementBatch: 100,
  announcementCheckSeconds: 3600,
  relaysMax: 32,
  /** The address of a relay in the settings. Deliveries are found by it, in an index with short rows. */
  relayAddressCharsMax: 500,

  /** One amount, and one balance, positive or negative. 64 bits hold their sum. In the token's smallest unit. */
  tokenAmountMax: 1_000_000_000_000_000_000n,
  tokenBalanceMax: 8_000_000_000_000_000_000n,
  tokenDecimalsMax: 18,
  tokensMax: 32,
  tokensPerTransactionMax: 16,
  /** A start event is settled up to this long after its signature. */
  transactionSeconds: 10 * 60,
  /** Content of a start event, which its answer repeats, and the stored part of its memo. */
  transactionCharsMax: 4096,
  memoCharsMax: 200,
  /** Tags of a start event that its answer repeats. An invoice has a few hundred characters. */
  repeatedTagsMax: 10,
  repeatedTagCharsMax: 2048,
  /**
   * Furthest `created_at` of a balance event ahead of the clock, because relays refuse more. Balance events of one
   * account need rising seconds, so a faster account publishes its balance later.
   */
  balanceAheadSeconds: 60,
  owedBalancesMax: 100,
  owedBalancesSeconds: 5,
  /** Start events from relays that wait to be settled. Above it, relays are asked again later. */
  transactionsWaitingMax: 1000,
  /** Remembered ids of events from relays, so that the copies of other relays cost nothing. */
  eventsSeenMax: 10_000,
  /** Token buckets of start events: of one key over relays; of all keys without an account, over HTTP too. */
  transactionKeyBurst: 60,
  transactionKeyPerSecond: 2,
  transactionStrangerBurst: 100,
  transactionStrangerPerSecond: 2,
  movementsShownMax: 50,
  /** Rows of a statement in one read. The ledger works on between two of them. */
  statementPageRows: 500,
  /** Lines of a whole statement. */
  statementRowsMax: 1_000_000,
  fetchDefault: 100,
  fetchMax: 500,
  fetchSeconds: 5,
  /** Time to look up which events of an answer are outdated. It takes milliseconds. */
  fetchCheckSeconds: 1,
  /** Bytes that one fetch takes from all relays, and fetches that ask relays at once. Both bound the memory. */
  fetchBytesMax: 4 * 1024 * 1024,
  fetchesMax: 128,
  /** Pause of a courier after a failed write. */
  courierPauseSeconds: 5,

  /** Time to pay after a tap, and the time that an expired tap is remembered to say so. */
  scanSeconds: 180,
  scanKeptSeconds: 60 * 60,
  /** Lifetime of the start event of a payment; a ledger refuses it later. After the grace, no answer is awaited. */
  paymentSeconds: 60,
  paymentGraceSeconds: 60,
  /** Time that a payment waits for a remote ledger. A later outcome is found by a status request. */
  paymentWaitSeconds: 20,
  /** Refused payments of one k1 (LUD-03) that are kept, so that a repeat gets the same answer. */
  paymentRefusalsMax: 20,
  /** Payments that a new subscription asks relays for by id. */
  paymentsAskedMax: 500,
  /** Interval of the sweep that releases reservations. */
  paymentSweepSeconds: 2,
  /** Characters of an invoice. One with many route hints has 1 500. */
  invoiceCharsMax: 2048,
  /** Length of a ledger's message that is stored and shown. */
  ledgerWordsCharsMax: 500,
  /** Cards of one holder (a family), and the sizes of their settings. */
  cardsPerHolderMax: 100,
  cardLimitsMax: 20,
  trustedMerchantsMax: 100,
  cardNameCharsMax: 80,
  cardDescriptionCharsMax: 500,
  tokenCharsMax: 32,
  /** Ten years, longer than a card lasts. */
  cardLimitSecondsMax: 10 * 366 * 24 * 60 * 60,
  /** Plain text of an event about a holder's cards. Encrypted it is half as long again, and relays take 64 KiB. */
  cardNoticeBytesMax: 40_000,
  /** Holders whose wallets are told of their cards in one run, and the seconds between two looks without a wake. */
  cardNoticesMax: 20,
  cardNoticesSeconds: 60,
  /** Age of a card change event from a relay. LaWallet clients look back about as far. */
  cardChangeSeconds: 24 * 60 * 60,
  /** Token bucket of card changes of one key over relays (burst, refill per second). */
  cardChangeBurst: 60,
  cardChangePerSecond: 1,
  /** Time that `cuponera card-sim` waits for an answer. A payment may take twenty seconds. */
  cardSimSeconds: 30,
  /** Characters of a one-time code. Some codes are read aloud. */
  otcCharsMax: 128,
  /** Shortest code that an operator may choose. Twelve digits are a trillion codes, more than anybody can try. */
  otcCharsMin: 12,
  /** Token buckets of wrong card codes (burst, refill per second). A busy stand mistypes a few per minute. */
  codeTriesOfAddress: { burst: 30, perSecond: 1 / 10 },
  codeTriesOfKey: { burst: 10, perSecond: 1 / 60 },
  /** Wrong codes of all clients. A year of tries finds a given code of twelve digits with a chance of 1 in 30 000. */
  codeTriesOfAll: { burst: 300, perSecond: 1 },
  /** Tries of a new address while the bucket of all clients is empty. */
  codeTriesOfNewcomer: { burst: 3, perSecond: 1 / 600 },
  codeTriesRememberedMax: 20_000,
  ...clientLimits,
  ...merchantLimits,
  ...processLimits,
  ...relayLimits,
  ...shareLimits,
} as const
