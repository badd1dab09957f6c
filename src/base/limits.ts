import { merchantLimits } from './limits-merchants.ts'
import { processLimits } from './limits-process.ts'
import { relayLimits } from './limits-relay.ts'
import { shareLimits } from './limits-shares.ts'

/** Every bound put on other people's data, with its reason. Sizes are bytes, times seconds, unless named otherwise. */
export const limits = {
  /** A coupon request is small; the largest legitimate one is a benefit with fifty products. */
  bodyBytesMax: 16 * 1024,
  /** A NIP-98 event is about 600 bytes; this leaves room for long URLs. The whole header value counts. */
  authorizationBytesMax: 8 * 1024,
  /** Bun's own limit answers without envelope or CORS, so it sits far above ours. */
  serverBodyBytesMax: 8 * 1024 * 1024,
  /** Nesting of a JSON text from outside: an event has 3, the deepest that we read 8. */
  jsonDepthMax: 64,
  /** Its keys: a wish about a hundred cards has 11 000, an event 7. */
  jsonKeysMax: 20_000,
  /** Digits of one of its numbers, the exponent's too: a double written out in full has 17 that count. */
  jsonDigitsMax: 64,
  /** Chunks of one body: each costs a turn of the loop, and 262 144 of one byte took half a second. */
  bodyChunksMax: 4096,
  /** A body that trickles in slower than this holds a connection for nothing. */
  bodyReadSeconds: 10,
  /** Idle connections are closed by the server after this. */
  idleSeconds: 30,
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
  /** Days of statistics asked for at once, and without `from`. */
  statisticsDaysMax: 366,
  statisticsDaysDefault: 30,
  /** Days with something in them before a page of statistics ends, with the coupon it is at; each is 24 rows at most. */
  statisticsRowsMax: 1000,
  /** A picture of a coupon: enough for a good photograph on a phone. */
  imageBytesMax: 1024 * 1024,
  imageDeadlineMs: 10_000,
  /** What the pictures may take on the disk; those used longest ago go first. */
  imagesBytesMax: 128 * 1024 * 1024,
  /** A picture that could not be had is not asked for again so soon; how many are remembered. */
  imageFailureSeconds: 60,
  imageFailuresMax: 10_000,
  /** Live streams: several windows of a merchant, and all together; each is a connection. */
  livePerKeyMax: 8,
  liveMax: 500,
  /** Of one address, which merchants of one building may share; four of them leave room. */
  livePerAddressMax: 100,
  /** What may wait for one reader before it is let go. */
  liveUnreadBytesMax: 64 * 1024,
  /** Below the idle time of the server and of proxies (60 s). */
  liveBeatSeconds: 15,
  /** Soon enough for a person; of a burst, so many are shown one by one. */
  liveBatchMs: 100,
  liveBatchMax: 100,

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

  /** NIP-98 clock tolerance, either way. */
  proofWindowSeconds: 60,
  /** An announcement may be this far ahead of our clock. */
  announcementAheadSeconds: 15 * 60,
  sessionSeconds: 12 * 60 * 60,
  /** A cut-off of sessions is kept as long as one lasts, and an hour more for clocks that are set. */
  sessionCutoffSeconds: 13 * 60 * 60,
  /** Verified session tokens kept, so that a busy till does not pay for the JWT each time. */
  sessionCacheMax: 10_000,
  /** Stored answers of the optional Idempotency-Key are kept at least 24 h. */
  answerSeconds: 25 * 60 * 60,

  /** A request event of the wallet routes: its clock tolerance, either way. */
  requestWindowSeconds: 180,
  /** Granted requests that are remembered: an event id and an answer each, for that long. */
  requestsMax: 200_000,
  /** What may be remembered when somebody with nothing here asks. */
  requestsOfStrangersMax: 100_000,
  /** A nonce that an issuer proposes: as hard to guess as ours, and fit for a URL. */
  proposedNonceCharsMin: 22,
  proposedNonceCharsMax: 128,
  /** Nonces of one issuer that nobody has used, and how long one can be. */
  openNoncesMax: 10_000,
  openNonceSeconds: 365 * 24 * 60 * 60,

  /** What a wallet answers to LUD-16: about 1 KiB, more with a picture in its metadata. */
  lud16BytesMax: 12 * 1024,
  lud16DepthMax: 4,
  callbackCharsMax: 1000,
  /** A payer's comment, or the zap request (NIP-57) that comes along. */
  paymentFieldCharsMax: 8000,
  /** A wallet answers with an invoice, slowly when it has to ask its own node. */
  callbackDeadlineMs: 10_000,
  callbackBodyBytesMax: 64 * 1024,

  /** A voucher with its event, as text inside of text. */
  transferBytesMax: 64 * 1024,
  commentCharsMax: 200,
  /** Vouchers of one holder that may be worth something; of one merchant's, so that none fills it. */
  inboxUnspentMax: 100,
  inboxPerMerchantMax: 20,
  /** All of a holder's, spent and expired ones, too: beyond it the oldest of those go. */
  inboxRowsMax: 200,
  /** Swaps under way at one service: one that is out of order leaves room for the others. */
  intentsPerServiceMax: 1000,
  /** A swap that a request waits for is left alone this long; then it is tried again, ever later. */
  intentFirstSeconds: 30,
  intentRetrySeconds: 5,
  intentRetrySecondsMax: 60 * 60,
  intentJitter: 0.2,
  /** Older than this it is tried once a day, and takes no room from its holder; it is never dropped. */
  intentFreshSeconds: 30 * 24 * 60 * 60,
  intentOldRetrySeconds: 24 * 60 * 60,
  /** A voucher that expired so long ago has done so by every clock, and so has what replaced it. */
  intentExpiredSeconds: 24 * 60 * 60,
  /** Of one service, at once. */
  resumesMax: 8,
  resumeNapSeconds: 60,
  resumePauseSeconds: 5,
  /** All the waits of one transfer end before an idle connection is closed. */
  addressDeadlineMs: 8000,
  addressBodyBytesMax: 64 * 1024,
  handOverDeadlineMs: 14_000,
  handOverBodyBytesMax: 16 * 1024,
  /** Shorter than the hand-over that waits for it. NIP-44 takes 65 535 bytes. */
  refreshDeadlineMs: 8000,
  refreshBodyBytesMax: 60 * 1024,
  previewDeadlineMs: 3000,
  /** Vouchers that come to one name: a shop gives one to each guest of an evening. */
  arrivingRate: { burst: 60, perSecond: 0.5 },
  /** Vouchers that one address sends away: each costs two requests to the outside. */
  leavingRate: { burst: 60, perSecond: 0.5 },
  transferRatesMax: 20_000,
  /** What is shown of another service's words. */
  foreignReasonCharsMax: 300,
  voucherServicesMax: 100,

  /** A Nostr event published over HTTP: what relays take at most. */
  publishBytesMax: 256 * 1024,
  /** Events that wait for relays, and their bytes; the share of both that strangers may fill. */
  outboxEventsMax: 200_000,
  outboxBytesMax: 1024 * 1024 * 1024,
  outboxOpenShare: 0.9,
  /** An event is tried this long; an ephemeral one is old news sooner. */
  deliverySeconds: 72 * 60 * 60,
  ephemeralSeconds: 60,
  /** What became of an event can be asked this long. */
  outboxKeptSeconds: 7 * 24 * 60 * 60,
  /** Places for events given to one relay; each is kept until its answer, or as below. */
  relayInFlightMax: 64,
  /** An event keeps its place among those this long: a relay may well say nothing to a kind it ignores. */
  relayPlaceSeconds: 1,
  /** What may be without an answer in all, places or not: memory. */
  relayUnansweredCharsMax: 16 * 1024 * 1024,
  /** Token buckets per key and per address (burst, refill per second). Above them, deliveries get low priority. */
  publishKeyBurst: 20,
  publishKeyPerSecond: 1,
  publishAddressBurst: 100,
  publishAddressPerSecond: 5,
  /** The share of the places for those, and for what failed before. */
  relayLaterShare: 0.5,
  relayConnectSeconds: 10,
  relayAnswerSeconds: 10,
  /** A poison event that failed so often is tried seldom. */
  poisonAttempts: 3,
  /** One poison event has its turn this often, even under load. */
  poisonTurnSeconds: 60,
  /** Events of one connection whose late answer is still listened for. */
  relayLateMax: 1000,
  /** What is kept and shown of a relay's words. */
  relayErrorCharsMax: 200,
  /** A relay outside is pinged this often, and given up when nothing came since the last time. */
  relayPingSeconds: 30,
  /** A connection that lasted this long was a good one: the next is tried at once. */
  relayStableSeconds: 60,
  /** A relay's name is looked up this long before it is left for later. */
  relayNameSeconds: 2,
  /** Events of one connection that are not valid or not asked for; beyond it the relay is lying. */
  relayWrongMax: 100,
  /** Messages nobody asked for, in so many seconds; beyond it the connection is closed. */
  relayStrayMax: 1000,
  relayStraySeconds: 10,
  /** NIP-42: a challenge is a random word, and one or two a connection. */
  relayChallengeCharsMax: 256,
  relayChallengesMax: 10,
  /** Subscriptions a relay outside is asked to serve at once, and one more for announcements: most allow twenty. */
  relayQueriesMax: 16,
  /** Queries that a relay had not answered in time and may still be answering. */
  relayLeftMax: 64,
  /** A subscription that a relay ended is asked for again after this. */
  relayResubscribeSeconds: 60,
  /** A courier looks again at least this often: clocks jump. */
  courierNapSeconds: 60,
  /** Announcements asked of a relay in one REQ, and seconds between two such rounds. */
  announcementBatch: 100,
  announcementCheckSeconds: 3600,
  relaysMax: 32,

  /** One amount, and one balance either way: 64 bits hold the sum of both. In a token's smallest unit. */
  tokenAmountMax: 1_000_000_000_000_000_000n,
  tokenBalanceMax: 8_000_000_000_000_000_000n,
  tokenDecimalsMax: 18,
  tokensMax: 32,
  tokensPerTransactionMax: 16,
  /** A start event is acted on this long after it was signed. */
  transactionSeconds: 10 * 60,
  /** Content of a start event, which its answer repeats; what is kept of its memo. */
  transactionCharsMax: 4096,
  memoCharsMax: 200,
  /** Tags of a start event that its answer repeats; an invoice has a few hundred characters. */
  repeatedTagsMax: 10,
  repeatedTagCharsMax: 2048,
  /** Relays refuse what is far ahead of the clock: an account that moves faster tells its balance later. */
  balanceAheadSeconds: 60,
  owedBalancesMax: 100,
  owedBalancesSeconds: 5,
  /** Start events from relays that wait to be settled; beyond it relays are asked again. */
  transactionsWaitingMax: 1000,
  /** Ids of events from relays that were looked at, so that each relay's copy costs nothing. */
  eventsSeenMax: 10_000,
  /** Start events by one key that relays may bring, and those by all keys that own nothing here, over HTTP too. */
  transactionKeyBurst: 60,
  transactionKeyPerSecond: 2,
  transactionStrangerBurst: 100,
  transactionStrangerPerSecond: 2,
  movementsShownMax: 50,
  /** Rows of a statement read at once, and lines of all. */
  statementPageRows: 500,
  statementRowsMax: 1_000_000,
  fetchDefault: 100,
  fetchMax: 500,
  fetchSeconds: 5,
  /** Looking up what of an answer is out of date takes milliseconds. */
  fetchCheckSeconds: 1,
  /** What one fetch takes from all relays together, and how many fetches ask relays at once: memory. */
  fetchBytesMax: 4 * 1024 * 1024,
  fetchesMax: 128,
  /** After a write failed, a courier lets go of its work for this long. */
  courierPauseSeconds: 5,

  /** A tap is paid within this, or tapped again; when it expired can be told this much longer. */
  scanSeconds: 180,
  scanKeptSeconds: 60 * 60,
  /** The start event of a payment: a ledger refuses it later; and this much after it nobody is waited for. */
  paymentSeconds: 60,
  paymentGraceSeconds: 60,
  /** Whoever pays waits this long for a ledger elsewhere; what is not answered then is looked up. */
  paymentWaitSeconds: 20,
  /** Refused payments of one k1 that are kept to be told again. */
  paymentRefusalsMax: 20,
  /** Payments that relays are asked for by name, when they are asked anew. */
  paymentsAskedMax: 500,
  /** Between two looks for reservations to let go. */
  paymentSweepSeconds: 2,
  /** Characters of an invoice: those with many route hints have 1 500. */
  invoiceCharsMax: 2048,
  /** What is kept and shown of a ledger's words. */
  ledgerWordsCharsMax: 500,
  /** A family's cards; and what a holder's wishes about them may fill. */
  cardsPerHolderMax: 100,
  cardLimitsMax: 20,
  trustedMerchantsMax: 100,
  cardNameCharsMax: 80,
  cardDescriptionCharsMax: 500,
  tokenCharsMax: 32,
  /** Ten years: longer than a card lasts. */
  cardLimitSecondsMax: 10 * 366 * 24 * 60 * 60,
  /** How old a wish about cards may be that a relay brings; LaWallet clients look back about as far. */
  cardChangeSeconds: 24 * 60 * 60,
  /** Changes of one key that relays bring: a burst, and what comes back per second. */
  cardChangeBurst: 60,
  cardChangePerSecond: 1,
  /** `cuponera card-sim` waits this long for an answer: a payment may take twenty seconds. */
  cardSimSeconds: 30,
  /** One-time codes are short, and some are read aloud. */
  otcCharsMax: 128,
  /** A code that somebody chooses: twelve digits are a trillion, more than can be tried. */
  otcCharsMin: 12,
  /** Wrong codes of cards: a burst, and what comes back per second. A busy stand mistypes a few a minute. */
  codeTriesOfAddress: { burst: 30, perSecond: 1 / 10 },
  codeTriesOfKey: { burst: 10, perSecond: 1 / 60 },
  /** By everybody: a year of trying finds a given code of twelve digits once in thirty thousand times. */
  codeTriesOfAll: { burst: 300, perSecond: 1 },
  /** Tries of an address that tried none, when the tries of all are used up. */
  codeTriesOfNewcomer: { burst: 3, perSecond: 1 / 600 },
  codeTriesRememberedMax: 20_000,
  ...merchantLimits,
  ...processLimits,
  ...relayLimits,
  ...shareLimits,
} as const
