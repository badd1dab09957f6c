import type { SharedBuckets } from '../base/guesses.ts'
import type { NewsListener, Topic } from './news.ts'
import type { Root, Roots } from './roots.ts'

/**
 * The port of operations to the database. An engine promises:
 * - `transact` resolves only when the writes of the operation are on disk. A refusal thrown inside undoes this
 *   operation alone and is passed on. Any other failure rejects with its cause. After a failure of the disk or of the
 *   connection the operation may stand nevertheless: its caller asks again, under the same key.
 * - Operations behave as if they ran one after the other. An engine may run one again from the start, so an
 *   operation awaits nothing but `tx`.
 * - `roots` are the rows that an operation decides on, known before it begins. An engine whose
 *   operations overlap locks them, in the order of roots.ts, before `first` and the operation run.
 * - `rows` is the approximate number of rows that the operation writes. A large one lets the others pass.
 * - `first` runs before the operation. Its writes, effects and news stay when the operation is refused, and when it
 *   refuses itself (the replay guard).
 * - `snapshot` sees one consistent state, with every write that was answered before it began. It
 *   awaits nothing but `tx` and writes nothing.
 * - `look` is a snapshot of one statement, which may share its state with other looks and costs less than a transaction. The query
 *   asks it before it awaits anything. Behind it the query may read only what never changes. An engine may make a snapshot of it.
 * - A node that could not hear the news of the others for some seconds refuses operations and reads.
 * - `lease` gives a node the right to be the only one that does the work of a name. It is null while another
 *   node has the name. Parts of one node share it, and the last of them gives it back. The embedded engine has one
 *   node, so that a lease is always ours.
 */
export type Database<Tx> = {
  transact<T>(plan: Plan<Tx>, operation: Operation<Tx, T>): Promise<T>
  snapshot<T>(query: (tx: Tx) => Promise<T>): Promise<T>
  look<T>(query: (tx: Tx) => Promise<T>): Promise<T>
}

export type Operation<Tx, T> = (tx: Tx & AfterCommit & BeforeCommit & Locking) => Promise<T>

/** The part of an operation that an engine needs before it runs it. */
export type Plan<Tx> = {
  roots: Roots
  first?: First<Tx> | undefined
  rows?: number
}

/** The database for the process that opens and closes it. */
export type OpenDatabase<Tx> = Database<Tx> &
  Leases &
  News & {
    /** True if the last process closed the file properly. */
    readonly cleanStart: boolean
    /** True while the clock is behind the newest write. Writes are refused then. */
    readonly clockBehind: boolean
    /** True while there is no connection to the server of the database, and it takes none. */
    readonly away: boolean
    /** Work for the engine itself that the leader does, from time to time. */
    readonly upkeep: readonly Upkeep[]
    /** Token buckets that the nodes share. Null: this process is the only one. */
    readonly buckets: SharedBuckets | null
    /** The nodes of a database that several may use. Null: this process is the only one. */
    readonly nodes: Nodes | null
    /**
     * Refuse `unavailable` or `moved` where news of other nodes may be unread, as every operation and read does. For
     * what is decided by memory alone.
     */
    requireNews(): Promise<void>
    /** Resolves when all that another process can read in the file is on disk. Rejects if the disk fails. Absent without a file. */
    settled?(): Promise<void>
    /** Record the result of a full check for the next start. */
    checked(problems: number): void
    /** Finish the waiting operations and close. */
    close(): Promise<void>
  }

/** The nodes of a database, as each tells them of itself. */
export type Nodes = {
  /** The id of this node. Each start has one of its own. */
  readonly id: string
  /** Tell the others the address of this node. */
  listening(address: string): void
  /**
   * Tell the others the settings of this node, by fingerprints that say nothing to anybody else. Resolves to those that
   * a running node has otherwise. If one of them is in `equal`, the others are not told, and this node must stop.
   */
  agree(settings: Fingerprints, equal: ReadonlySet<string>): Promise<Difference[]>
  /** Every node that was heard of lately, this one included, the oldest first. */
  list(): Promise<KnownNode[]>
  /** The work that waits for the leader. */
  waiting(): Promise<Waiting>
  /** Figures of this node. They need no answer of the database. */
  figures(): NodeFigures
}

/** Fingerprints of settings by their names. */
export type Fingerprints = Readonly<Record<string, string>>

/** Names of the settings that a node has otherwise. */
export type Difference = { node: string; settings: string[] }

export type Waiting = {
  /** Changes of counters that are not summed up yet; a large number is cut off at `countedMax`. */
  unfolded: number
}

export type NodeFigures = {
  leads: boolean
  /** Connections that operations and reads use at this moment. */
  connections: number
  /** Operations that ran again, because another one stopped them or their connection ended. */
  retries: number
  /** Commits whose answer got lost, so that the database was asked for their fate. */
  settlements: number
  /** Seconds that the clock of the database is ahead of ours. Null before the first look at it. */
  clockAhead: number | null
  /** Commits wait for a standby that is away, and operations are refused. */
  standbyLost: boolean
  /** Its login may not see whether commits wait for a standby. */
  standbyUnwatched: boolean
  /** The server answers nothing, or takes no connection. */
  unreachable: boolean
}

export type KnownNode = {
  id: string
  name: string
  /** Of its program. */
  version: string
  /** The schema that its program was made for. */
  schema: number
  /** Null until it listens. */
  address: string | null
  /** True of the leader. */
  leads: boolean
  /** Settings that it has otherwise than the node that lists it. */
  differing: string[]
  /** News of other nodes that it had not read at its last beat. */
  unread: number
  /** Unix seconds, by the clock of the database. */
  startedAt: number
  /** Seconds since its last beat. A dead node has its row for a while. */
  silentSeconds: number
}

/** News of commits, for every node (`db/news.ts`). */
export type News = {
  /** Listen before you read what the news are about. */
  listen<Body>(topic: Topic<Body>, listener: NewsListener<Body>): void
  /** Tell news that no operation goes with. Resolves when every node that listens will hear of it. */
  tell<Body>(topic: Topic<Body>, body: Body): Promise<void>
}

/** One kind of such work, done every minute or `everySeconds`. A step resolves to true when more is left. */
export type Upkeep = { step: () => Promise<boolean>; everySeconds?: number }

/** The name of the lease of the leader: the node that does all work that one node is enough for. */
export const leader = 'leader'

/** The part of the port that `jobs.ts` needs. */
export type Leases = {
  lease(name: string): Promise<Lease | null>
}

/** A lease ends when it is given back, or when its node was silent for too long. */
export type Lease = {
  /** False once it was lost or given back. The work belongs to another node then. */
  held(): boolean
  release(): Promise<void>
}

/** A write that stays when the operation behind it is refused. A refusal of its own stops both. */
export type First<Tx> = (tx: Tx & AfterCommit) => Promise<void>

export type AfterCommit = {
  /**
   * Call `effect` once when the operation is on disk, before it is answered: to tell listeners or wake a worker.
   * Effects are dropped if the operation is refused, fails or runs again; those of `first` stay with its writes. An
   * error of an effect is only logged. Where nobody told whether a commit stands, listeners are told `missed` later.
   */
  afterCommit(effect: () => void): void
  /** The same on every node: call those who listen to a topic. */
  tell<Body>(topic: Topic<Body>, body: Body): void
}

export type BeforeCommit = {
  /**
   * Call `step` before the commit, behind the operations that share it. By then another thread may have done its part of the
   * work. A step reads nothing, and writes with `run`, to `lateTables` only. Another operation finds these writes: its
   * statement on such a table is sent behind the step. A refused operation has no step, and one whose step fails, fails.
   */
  beforeCommit(step: () => void): void
}

/** Tables of rows that are written right before the commit. */
export const lateTables: readonly string[] = ['refreshes']

export type Locking = {
  /**
   * Lock roots that only a read of this operation could name. They stand behind the locked ones in the
   * order of roots.ts. Another operation may change such a row between that read and this call, so the
   * operation reads the row again before it decides.
   */
  lock(...roots: Root[]): Promise<void>
}
