/** Bounds of the process itself: commits, background work, files, its control socket. */
export const processLimits = {
  /** The authority of a shop lasts ten years. */
  authoritySeconds: 3650 * 86_400,
  /** iOS takes no certificate that is valid longer than 825 days. */
  certificateSeconds: 820 * 86_400,
  /** It is made anew at a start that finds it this near its end. */
  certificateRenewSeconds: 60 * 86_400,
  /** Clocks of phones that are behind. */
  certificateBeforeSeconds: 86_400,
  /** Browsers told to use https alone keep to it this long (HSTS): a year, as its lists of sites ask for. */
  strictTransportSeconds: 365 * 86_400,
  /** Names and addresses of the machine are asked for anew this often, and sooner for one that is unknown (DHCP). */
  ownNamesKeptSeconds: 60,
  ownNamesAgainSeconds: 5,
  /** An origin that is repeated to who asked it: a host name has 253 characters. */
  originCharsMax: 280,
  /** Unknown origins that the log names; what strangers make up must not fill it. */
  unknownOriginsLogged: 5,
  /** Addresses of the machine in it: a laptop full of container networks has dozens. */
  certificateHostsMax: 16,

  /** Between two looks whether the main thread was held up. */
  loopTickMs: 50,
  /** A stall that is worth a line of the log, and how often there is one: customers notice it. */
  loopStallMs: 200,
  loopLogSeconds: 10,
  /** The metric tells the longest stall of such a time. */
  loopWindowSeconds: 60,

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
  /** Shortest wait between two runs of a job, so that requests and timers have their turn. */
  jobPauseSeconds: 0.001,
  /** Between two rounds of marking and pruning. */
  housekeepingSeconds: 60,
  /** A background job that failed is tried again after this, doubling up to the second. */
  jobRetrySeconds: 5,
  jobRetrySecondsMax: 60,
  /** A job whose lease another node holds asks for it this often: the node may have died. */
  leaseLookSeconds: 5,
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
  /** The floor of free disk, whichever is less: room for a day's claims, and for a check or an upgrade. */
  diskFloorBytes: 256 * 1024 * 1024,
  diskFloorShare: 0.02,
  /** Free space is looked at this often: one address writes a few megabytes a second. */
  diskLookSeconds: 2,
  /** Times the floor that is free again before strangers may write. */
  diskRoomAgain: 1.1,
  diskLowRetrySeconds: 60,
  /** `cuponera health` says yes or no within this, both of its steps together. */
  healthSeconds: 3,
  /** Answer that `cuponera demo` or `card-sim` reads: another server's may be of any length. */
  demoAnswerBytesMax: 1024 * 1024,
  passphraseCharsMin: 8,
  /** Far above any passphrase; a file named by mistake must not be read whole. */
  passphraseBytesMax: 4096,
  /** A file of exported keys is below 1 KiB. */
  keyFileBytesMax: 64 * 1024,
  /** The most scrypt may be told to take by a file: 1 GiB (N 2^20, r 8). */
  scryptCostMax: 2 ** 20,
} as const
