/** Bounds of the process itself: commits, background work, files, its control socket. */
export const processLimits = {
  /** Lifetime of the local certificate authority: ten years, because each device must trust it by hand. */
  authoritySeconds: 3650 * 86_400,
  /** Lifetime of the certificate. iOS refuses more than 825 days. */
  certificateSeconds: 820 * 86_400,
  /** The certificate is renewed at the start, if it expires within this time. */
  certificateRenewSeconds: 60 * 86_400,
  /** The certificate is valid from this long ago, for phones whose clock is behind. */
  certificateBeforeSeconds: 86_400,
  /** `max-age` of HSTS (RFC 6797): one year, the minimum for the preload lists. */
  strictTransportSeconds: 365 * 86_400,
  /** The machine's names and addresses are read again this often; sooner for an unknown one (DHCP). */
  ownNamesKeptSeconds: 60,
  ownNamesAgainSeconds: 5,
  /** Length of an origin that an answer quotes. A host name has up to 253 characters. */
  originCharsMax: 280,
  /** Unknown origins that the log names. Clients choose them freely, and must not fill the log. */
  unknownOriginsLogged: 5,
  /** Names and addresses in the certificate. A laptop with container networks has dozens. */
  certificateHostsMax: 16,

  /** Interval of the timer that measures stalls of the main thread. */
  loopTickMs: 50,
  /** A stall this long is logged, because customers notice it; at most once per `loopLogSeconds`. */
  loopStallMs: 200,
  loopLogSeconds: 10,
  /** Window of the metric for the longest stall. */
  loopWindowSeconds: 60,

  /** Operations in one commit. Enough to share the fsync, few enough to keep the event loop responsive. */
  batchMax: 128,
  /** An operation that writes more rows is heavy. At most `heavyQueueMax` heavy ones may wait. */
  lightRowsMax: 20,
  heavyQueueMax: 200,
  /**
   * Commits with a savepoint for each operation, after one was refused behind its first write. Its whole commit ran twice.
   * A client that brings about many of them slows down one commit in a hundred.
   */
  carefulCommits: 100,
  /**
   * After so many commits in a row that each waited as long for the disk, their syncs run in another thread. Of the
   * second half of them, and of one of `asideMeasured` then, the sync alone is measured.
   */
  asideSyncMs: 1,
  asideCommits: 8,
  asideMeasured: 256,
  /**
   * Longest wait for that thread. Then the commit waits by itself, and so do the next `asideMeasured`. For the sync of a fold
   * none waits longer.
   */
  asidePatienceMs: 1000,
  /**
   * Pause between two tries to write the log again whose sync failed, and so many times as long as a try took if that is
   * longer. Operations are refused meanwhile.
   */
  mendPauseMs: 1000,
  mendPauseTimes: 10,
  /**
   * After two syncs that took as long, the next commit waits up to `gatherMs` for as many operations as were under way
   * with the last one.
   */
  slowSyncMs: 15,
  gatherMs: 3,
  /** Lookups that run without waiting for others, behind a turn of the event loop that had only one. */
  looksAtOnce: 16,
  /**
   * Frames in the log of the embedded engine at which commits wait until it is folded into the file: 10 MB. In a file of a
   * million vouchers, with 2000 claims and refreshes are a twelfth slower.
   */
  logFramesMax: 2500,
  /** The same on a slow disk, which each new log waits for: 40 MB. */
  slowLogFramesMax: 10_000,
  /**
   * Parts of them: new frames that are copied while commits go on, and a log that is folded to its end. Smaller steps hold the
   * thread up for less time, but let more commits wait for the disk.
   */
  foldStep: 0.4,
  foldEnds: 0.8,
  /** Frames at most that are left at the end, which this thread copies and syncs. */
  foldRest: 250,
  /** Size to which the WAL file is cut after a checkpoint. */
  journalBytesMax: 64 * 1024 * 1024,
  /**
   * Signatures, or checks of them, wanted at once that start the crypto thread. It is woken for each eighth, because a wake-up
   * takes as long as a signature. It ends after this many seconds without one.
   */
  cryptoThreadFrom: 16,
  cryptoThreadWakeEvery: 8,
  cryptoThreadIdleSeconds: 60,
  /** Operations that wait for a commit. More are answered 503. */
  queueMax: 10_000,
  /**
   * Connections of a node to PostgreSQL. Each is a process of the server. With 24 refreshes are about 5 % slower, and with 16
   * they are 15 %, because the processors wait for each other.
   */
  databaseConnections: 32,
  /** The same for the relay inside, which has reads and members besides its writes. */
  relayDatabaseConnections: 8,
  /** A server that owes an answer for so long is given up: a commit without its standby waits for ever. */
  databaseAnswerSeconds: 10,
  /** An operation or a read that awaits something else than the database for so long is given up. */
  databaseStalledSeconds: 5,
  /** Longest wait for a connection of the node. Then the answer is 503: the server is slow or away. */
  databaseQueueSeconds: 20,
  /**
   * Longest wait of a caller for an operation or a read, with all that it runs into. It goes on alone then. Less than
   * `idleSeconds`, after which no answer would leave.
   */
  databaseCallerSeconds: 25,
  /** A connection that was idle for so long is asked whether it lives before it is used, and has so long to answer. */
  databaseIdleSeconds: 3,
  databasePingSeconds: 2,
  /** Lost commits whose fate is asked for at the same time. */
  databaseSettlementsMax: 8,
  /** Lost commits that wait for their turn to be asked for. The callers of others are told at once that nobody knows. */
  databaseSettlementsWaitingMax: 100,
  /** A session that has waited for a standby for so long waits on: confirming a commit takes milliseconds. */
  standbyWaitSeconds: 3,
  /** While commits wait for a standby, the server is asked this often whether they still do. */
  standbyLookSeconds: 1,
  /** After a start of the server a commit waits so long for the standby to confirm it. Reads wait for it meanwhile, or are refused. */
  confirmationSeconds: 30,
  /** A start whose commits wait ends when no standby is connected for so long, or when one lags for so long. */
  standbyAwaySeconds: 5,
  standbyLagSeconds: 600,
  /** A node asks its session of leases this often, and gives them up after so long without an answer. */
  leaseBeatSeconds: 2,
  leaseSilenceSeconds: 5,
  /** The server ends a session of leases without a beat for so long: later than its node gives them up. */
  leaseIdleSeconds: 8,
  /** A node without a beat for so long counts as silent. */
  nodeSilentSeconds: 10,
  /** The row of a node that died stays for so long, for the operator to see. */
  nodeKeptSeconds: 300,
  /** Closing waits this long for operations, and then for the farewell of a connection. */
  databaseCloseSeconds: 8,
  databaseFarewellSeconds: 1,
  /** Changes of counters are summed up so often. */
  foldSeconds: 5,
  /** Changes of counters, or marks of commits, in one statement of the upkeep. */
  foldedCountersMax: 5000,
  /** An upgrade of the schema waits this long for a table, lets the others pass for as long, and tries so often. */
  upgradeLockMs: 2000,
  upgradeAttempts: 30,
  /** Longest silence of a server that upgrades a schema: an index on a large table takes its time. */
  upgradeSilenceSeconds: 3600,
  /** Unfolded changes of counters, and unread news, are counted up to this number. */
  countedMax: 100_000,
  /** The mark of a commit stays for so long: much longer than anybody asks for its fate. */
  commitsKeptSeconds: 3600,
  /** News for other nodes are announced together after this time, and looked for this often without a call. */
  newsCallMs: 20,
  newsLookSeconds: 1,
  /**
   * A node that has not read the news of the others for so long answers nothing: what it knows may be out of date. Less
   * than `nodeSilentSeconds`, after which a move of the service no longer waits for it.
   */
  newsSilenceSeconds: 8,
  /** Rows of news in one read. One may hold an event of 256 KiB. */
  newsPageRows: 100,
  /** News stay for so long: longer than a node is away without a word. The second, while an old transaction is open. */
  newsKeptSeconds: 60,
  newsKeptSecondsMax: 600,
  /** Longest wait for a connection to one host. */
  databaseConnectSeconds: 3,
  /** The fate of a commit that got lost is asked for so long, until a promoted standby answers: longer than its caller waits. */
  databaseSettleSeconds: 30,
  /** An operation that others stop, or whose connection ends, is run again for so long. Then it is answered 503. */
  databasePatienceSeconds: 4,
  /** After a connection that failed no other one is tried for so long. */
  databaseDownMs: 200,
  /** The service is not ready for so long after the last failed connection. Its news ask again every second. */
  databaseAwaySeconds: 2,
  /** Longest pause between two of them, so that those who met do not meet again. */
  databaseRetryMsMax: 200,
  /** Rows that one step of background work touches. */
  sweepRowsMax: 500,
  /** Shortest wait between two runs of a job, so that requests and timers have their turn. */
  jobPauseSeconds: 0.001,
  /** Interval of the rounds that mark and prune rows. */
  housekeepingSeconds: 60,
  /** Backoff of a failed background job: first delay and maximum. It doubles. */
  jobRetrySeconds: 5,
  jobRetrySecondsMax: 60,
  /** A job tries again this often while the database is away, and no node has a lease. */
  jobOutageSeconds: 2,
  /** A job without a lease asks for it this often, because the node that holds it may have died. */
  leaseLookSeconds: 5,
  /** A clock may step back this far before writes are refused. NTP corrects small drifts. */
  clockBackSeconds: 10,

  /** Rows per statement of the check, so that it can pause or stop in between. */
  checkSliceRows: 2000,
  /** Pictures per statement of the check, which reads their bytes: 6.5 MB at most. */
  checkSlicePictures: 32,
  /** Longest answer of PostgreSQL to one statement of a check or a move, which may read or index a whole table. */
  maintenanceAnswerSeconds: 1800,
  /** Rows and bytes of one statement of a move to or from a server. The first statement of a table reads less. */
  moveStatementRows: 5000,
  moveStatementBytes: 4 * 1024 * 1024,
  moveRowsFirst: 50,
  /** A move waits so long for a service that has just ended, or for one that was killed a moment ago. */
  moveWaitSeconds: 12,
  /** Problems that a check lists. The others are only counted. */
  checkProblemsMax: 100,
  /** Checks and backups that may wait for each other in a running server. */
  maintenanceJobsMax: 8,
  /** Body of a control request. It holds a file name or a few fields. */
  controlBodyBytesMax: 64 * 1024,
  /** Time that a server has to answer on its control socket. */
  controlAnswerSeconds: 3,
  /** Floor of free disk space: the smaller of both. Room for the claims of a day and for a check or an upgrade. */
  diskFloorBytes: 256 * 1024 * 1024,
  diskFloorShare: 0.02,
  /** Free space is read this often. One address can write a few megabytes per second. */
  diskLookSeconds: 2,
  /** Multiple of the floor that must be free again before new data is taken. */
  diskRoomAgain: 1.1,
  diskLowRetrySeconds: 60,
  /** The service is not ready while a write takes longer than this. Balancers wait for a few seconds at most. */
  readyAnswerSeconds: 3,
  /** Time of `cuponera health` for both of its steps: `/readyz` answers within it, and it ends before its container gives up. */
  healthSeconds: 4.5,
  /** Length of an answer that `cuponera demo` or `card-sim` reads. A foreign server may send any length. */
  demoAnswerBytesMax: 1024 * 1024,
  /** Time of one attempt of the demo. Behind a balancer a node may hang. */
  demoAnswerSeconds: 15,
  /** Attempts at one request of the demo, and the time in which the last one begins: a failover takes up to 30 s. */
  demoTriesMax: 8,
  demoPatienceSeconds: 60,
  passphraseCharsMin: 8,
  /** Far above any passphrase. A large file that is named by mistake must not be read whole. */
  passphraseBytesMax: 4096,
  /** A file of exported keys has less than 1 KiB. */
  keyFileBytesMax: 64 * 1024,
  /** The first line of a file for a move has the keys and a few fields: less than 1 KiB. */
  moveHeaderBytesMax: 16 * 1024,
  movePassphraseCharsMax: 200,
  /** Signatures that a moved service remembers. Each is valid for two minutes. */
  movedProofsMax: 10_000,
  /** Far above the data of a shop in ten years. */
  moveFileBytesMax: 64 * 1024 ** 3,
  /** Highest scrypt cost that a file for a move may ask for, as a power of two: that of the age tool, 256 MiB. */
  moveWorkFactorMax: 18,
  /** Highest scrypt cost that a file may ask for: 1 GiB of memory (N 2^20, r 8). */
  scryptCostMax: 2 ** 20,
} as const
