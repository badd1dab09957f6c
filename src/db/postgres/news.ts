import { limits } from '../../base/limits.ts'
import { Refusal } from '../../base/refusal.ts'
import { createJobs, type Job, type Jobs } from '../jobs.ts'
import type { Listeners, Topic } from '../news.ts'
import { type Connection, ConnectionLost, type Result, StatementFailed } from './connection.ts'
import { type Moment, msSince, thisMoment } from './elapsed.ts'
import { hasEndedBetween, parseSnapshot, type Snapshot } from './snapshot.ts'

/** News as they were told to a transaction. */
export type Told = { topic: string; body: string }

/** Tables of the engine for news, which nodes read in the order of their transactions. */
export const newsSchema = [
  `CREATE TABLE changes (
     id BIGINT NOT NULL GENERATED ALWAYS AS IDENTITY,
     xid XID8 NOT NULL DEFAULT pg_current_xact_id(),
     -- The service, or its relay: each reads its own.
     channel TEXT COLLATE "C" NOT NULL,
     node UUID NOT NULL,
     topic TEXT COLLATE "C" NOT NULL,
     body TEXT COLLATE "C" NOT NULL,
     at TIMESTAMPTZ NOT NULL DEFAULT now(),
     PRIMARY KEY (channel, xid, id)
   )`,
  // The newest transaction of the deleted ones.
  `CREATE TABLE changes_forgotten (
     id BIGINT PRIMARY KEY CHECK (id = 1),
     newest XID8 NOT NULL
   )`,
  `INSERT INTO changes_forgotten (id, newest) VALUES (1, '0')`,
]

/** The channel of the news of the service. */
export const serviceChannel = 'cuponera_service'

type NewsParts = {
  channel: string
  connect: (onEnd: () => void) => Promise<Connection>
  /** The start of the server of the newest connection: another one after a crash, a restart and a promotion. */
  start: () => string
  listeners: Listeners
  failed: (cause: unknown) => void
  /** News were not read for too long. Told once, until they are read again. */
  unread?: ((cause: unknown) => void) | undefined
  /** The service was moved away from this database. Told once, until it is opened again. */
  moved?: (() => void) | undefined
}

/**
 * The place up to which news are read: those of every transaction that had ended at `read`. `page`: how far a read to a
 * later moment has come.
 */
type Place = { start: string; read: Snapshot; page: Page | null }
type Page = { until: Snapshot; xid: string; id: number }

/** News of this node for the others, and theirs for its listeners. */
export class NewsLine {
  readonly #parts: NewsParts
  /** The id of this node. */
  readonly node: string = Bun.randomUUIDv7()
  #connection: Connection | null = null
  #place: Place | null = null
  /** The begin of the last read that came to its end. */
  #readAt: Moment | null = null
  #attempt: Promise<void> | null = null
  /** No server took a connection: until then nobody but the job tries again. In milliseconds of `performance.now`. */
  #awayUntil = 0
  #tellsUnread = true
  /** The refusal that the last read ended with. Null: it ended otherwise. */
  #refused: Refusal | null = null
  /** True if the first read found that: the service shows it then, and can be opened again. */
  #beganMoved = false
  #moved = false
  /** A commit of this node was given up since the last read. */
  #doubts = false
  /** The transaction before which every one has ended that was given up earlier. */
  #doubted: bigint | null = null
  #following: Promise<void> | null = null
  readonly #jobs: Jobs = createJobs({ lease: async () => null })
  readonly #reading: Job
  readonly #calling: Job
  #closed = false

  constructor(parts: NewsParts) {
    this.#parts = parts
    const { failed } = parts
    const jobs = this.#jobs
    this.#reading = jobs.start({ run: () => this.#look(), failed })
    this.#calling = jobs.start({
      wakeSeconds: limits.newsCallMs / 1000,
      failed,
      run: async () => {
        await this.#call()
        return undefined
      },
    })
  }

  /** The transaction before which all were read that had ended at the last look. Null before the first one. */
  get readTo(): string | null {
    return this.#place?.read.next.toString() ?? null
  }

  /** True where the news of others were not read for so long that memory may be out of date. */
  get #stale(): boolean {
    return this.#readAt !== null && msSince(this.#readAt) > limits.newsSilenceSeconds * 1000
  }

  /**
   * Refuse `unavailable` where the news of others are unread for too long, and `moved` after the service was moved away.
   * After a stall or a suspension they are read first.
   */
  async require(): Promise<void> {
    // A read that is under way may have begun before the stall, and a connection may have ended meanwhile.
    for (let turn = 0; this.#stale; turn++) {
      if (turn === 2 || performance.now() <= this.#awayUntil) {
        throw this.#refused ?? new Refusal('unavailable', { retryAfter: 2 }, unreadWords)
      }
      await this.#readOnce().catch(requireFault)
    }
    if (this.#moved) throw new Refusal('moved')
  }

  /**
   * The answer to a commit of this node got lost, and nobody told whether it stands. It may stand later, so the
   * listeners of this node read anew when its transaction has ended.
   */
  doubt(): void {
    this.#doubts = true
  }

  /** Read news from now on. Rejects while the database is away. */
  follow(): Promise<void> {
    this.#following ??= this.#begin().catch((cause) => {
      this.#following = null
      throw cause
    })
    return this.#following
  }

  /** News in the text of a row. Bytes are written as hex. */
  static encode<Body>({ name }: Topic<Body>, body: Body): Told {
    return { topic: name, body: JSON.stringify(body, writeBytes) }
  }

  /** The statement that tells news to the other nodes when its transaction commits. */
  rowOf({ topic, body }: Told): { text: string; params: string[] } {
    return {
      text: 'INSERT INTO changes (channel, node, topic, body) VALUES ($1, $2, $3, $4)',
      params: [this.#parts.channel, this.node, topic, body],
    }
  }

  /** News of this node were committed: wake the others, soon and together. */
  committed(): void {
    if (this.#following !== null) this.#calling.wake()
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#connection?.destroy()
    await Promise.all([this.#reading.stop(), this.#calling.stop()])
  }

  async #begin(): Promise<void> {
    await this.#readOnce()
    this.#reading.wake()
  }

  /** A call gets lost with its connection, so each node also looks from time to time. */
  async #look(): Promise<number> {
    try {
      await this.#readOnce()
    } catch (cause) {
      requireFault(cause)
      if (this.#stale && this.#tellsUnread && this.#refused === null && !this.#closed) {
        this.#tellsUnread = false
        this.#parts.unread?.(cause)
      }
    }
    return limits.newsLookSeconds
  }

  /** Read, for all who want it at the same time. */
  #readOnce(): Promise<void> {
    this.#attempt ??= this.#readNow().finally(() => {
      this.#attempt = null
    })
    return this.#attempt
  }

  async #readNow(): Promise<void> {
    const connection = await this.#open()
    const at = thisMoment()
    await this.#read(connection)
    this.#readAt = at
    this.#tellsUnread = true
  }

  async #call(): Promise<void> {
    const { channel } = this.#parts
    // Never in the transaction of the news: notifying commits wait for each other.
    await this.#connection
      ?.send('SELECT pg_notify($1, $2)', [channel, this.node])
      .catch((cause) => {
        if (!(cause instanceof ConnectionLost)) throw cause
      })
  }

  async #open(): Promise<Connection> {
    if (this.#closed) throw new ConnectionLost('the node stops')
    if (this.#connection?.open) return this.#connection
    const connection = await this.#parts
      .connect(() => undefined)
      .catch((cause) => {
        this.#awayUntil = performance.now() + limits.databaseDownMs
        this.#refused = cause instanceof Refusal ? cause : null
        throw cause
      })
    this.#refused = null
    this.#connection = connection
    if (this.#closed) connection.destroy()
    connection.onNotification((node) => {
      if (node !== this.node) this.#reading.wake()
    })
    await connection.send(`LISTEN ${this.#parts.channel}`, []).catch((cause) => {
      connection.destroy()
      throw cause
    })
    return connection
  }

  /** Read the news of the others since the last time, and tell them here. */
  async #read(connection: Connection): Promise<void> {
    // Before the numbers: they are those of this start or of none, since its connections end with it.
    const start = this.#parts.start()
    const before = this.#place
    const { rows } = await connection.send(
      `SELECT CAST(pg_current_snapshot() AS TEXT) AS snapshot,
         EXISTS (SELECT 1 FROM facts WHERE name = 'moved-to') AS moved`,
      [],
    )
    const now = parseSnapshot(String(rows[0]?.snapshot))
    this.#setMoved(rows[0]?.moved === true)
    // A server that crashed, and a promoted one, give numbers of transactions again whose commits were not yet on disk.
    if (before?.start !== start) {
      this.#place = { start, read: now, page: null }
      this.#doubts = false
      this.#doubted = null
      if (before) this.#parts.listeners.missed()
      return
    }
    // A read that was cut off told a part of its news: it goes on to the moment that it began with.
    if (before.page) await this.#tellUntil(connection, before, before.page)
    await this.#tellUntil(connection, before, { until: now, xid: '0', id: 0 })
    if (await this.#endDoubt(connection, now.oldest)) this.#parts.listeners.missed()
  }

  /** True if every transaction has ended whose commit was given up. `oldest`: all before it have. */
  async #endDoubt(connection: Connection, oldest: bigint): Promise<boolean> {
    const ended = this.#doubted !== null && this.#doubted <= oldest
    if (ended) this.#doubted = null
    if (this.#doubted === null && this.#doubts) {
      this.#doubts = false
      // A number of our own is above that of each transaction that has begun.
      const { rows } = await connection.send('SELECT CAST(pg_current_xact_id() AS TEXT) AS xid', [])
      this.#doubted = BigInt(String(rows[0]?.xid))
    }
    return ended
  }

  /** The live streams of a service that was moved end: its clients are to go elsewhere. */
  #setMoved(moved: boolean): void {
    if (this.#place === null || !moved) this.#beganMoved = moved
    const before = this.#moved
    this.#moved = moved && !this.#beganMoved
    if (before || !this.#moved) return
    this.#parts.moved?.()
    this.#parts.listeners.missed()
  }

  /** Tell the news of each transaction that has ended since the place was read, in the order of the transactions. */
  async #tellUntil(connection: Connection, place: Place, page: Page): Promise<void> {
    place.page = page
    for (;;) {
      const [rows, forgotten] = await Promise.all([
        this.#next(connection, place.read, page),
        // Behind the rows: what was deleted before they were read shows here.
        this.#forgotten(connection),
      ])
      for (const row of rows) {
        page.xid = String(row.xid)
        page.id = Number(row.id)
        this.#tell(String(row.topic), String(row.body))
      }
      if (rows.length < limits.newsPageRows) {
        const lost = hasEndedBetween(place.read, page.until, forgotten)
        place.read = page.until
        place.page = null
        if (lost) this.#parts.listeners.missed()
        return
      }
    }
  }

  /** The next news of other nodes: of transactions that were open at the last look, and of later ones. */
  async #next(connection: Connection, from: Snapshot, page: Page): Promise<Result['rows']> {
    const later = BigInt(page.xid) < from.next ? { xid: String(from.next), id: 0 } : page
    const part = (where: string) => `(
      SELECT id, xid, topic, body FROM changes
      WHERE channel = $1 AND ${where} AND pg_visible_in_snapshot(xid, CAST($7 AS pg_snapshot)) AND node <> $8
      ORDER BY changes.xid, id LIMIT $9)`
    // One after the other: PostgreSQL 16 would look for a list of transactions in all rows.
    const { rows } = await connection.send(
      `SELECT id, CAST(xid AS TEXT) AS xid, topic, body FROM (
         SELECT of_one.* FROM unnest(CAST($2 AS xid8[])) AS open (one)
         CROSS JOIN LATERAL ${part('xid = open.one AND (xid, id) > (CAST($3 AS xid8), $4)')} AS of_one
         UNION ALL ${part('(xid, id) > (CAST($5 AS xid8), $6)')}) AS parts
       ORDER BY parts.xid, id LIMIT $9`,
      [
        ...[this.#parts.channel, `{${from.running.join()}}`, page.xid, page.id],
        ...[later.xid, later.id, page.until.text, this.node, limits.newsPageRows],
      ],
    )
    return rows
  }

  #tell(name: string, body: string): void {
    try {
      this.#parts.listeners.tell({ name }, JSON.parse(body, readBytes))
    } catch (cause) {
      this.#parts.failed(cause)
    }
  }

  /** The newest transaction of the news that were deleted. */
  async #forgotten(connection: Connection): Promise<bigint> {
    const { rows } = await connection.send(
      'SELECT CAST(newest AS TEXT) AS newest FROM changes_forgotten',
      [],
    )
    return BigInt(String(rows[0]?.newest ?? '0'))
  }
}

/** Delete up to `most` old news. Resolves to their number. */
export async function forgetNews(connection: Connection, most: number): Promise<number> {
  const { count } = await connection.send(
    // News of a transaction that stays open for long are read after its end: that is waited for, but not for ever.
    `WITH old AS (
       SELECT ctid FROM changes WHERE at < now() - make_interval(secs => $1)
         AND (xid < pg_snapshot_xmin(pg_current_snapshot()) OR at < now() - make_interval(secs => $2))
       LIMIT $3 FOR UPDATE SKIP LOCKED),
     gone AS (DELETE FROM changes WHERE ctid IN (SELECT ctid FROM old) RETURNING xid),
     noted AS (
       UPDATE changes_forgotten SET newest = greatest(newest, (SELECT max(xid) FROM gone)))
     SELECT 1 FROM gone`,
    [limits.newsKeptSeconds, limits.newsKeptSecondsMax, most],
  )
  return count
}

/**
 * Delete news with numbers of another server: a dump was brought back here. Their transactions would seem to be the
 * newest ones for long, and nobody would be told of those that were missed.
 */
export async function forgetForeignNews(connection: Connection): Promise<void> {
  const next = 'pg_snapshot_xmax(pg_current_snapshot())'
  await connection.send(`DELETE FROM changes WHERE xid >= ${next}`, [])
  await connection.send(`UPDATE changes_forgotten SET newest = '0' WHERE newest >= ${next}`, [])
}

/** The sentence of `unavailable` here. */
const unreadWords =
  'Este nodo no puede leer lo que cambió en los otros. Probá de nuevo en unos segundos.'

/** A read that failed by the server, or that must wait for its standby, is tried again; any other cause is thrown. */
function requireFault(cause: unknown): void {
  if (![ConnectionLost, StatementFailed, Refusal].some((kind) => cause instanceof kind)) throw cause
}

function writeBytes(this: Record<string, unknown>, key: string, value: unknown): unknown {
  // The value itself: a Buffer has become something else before this call.
  const own = this[key]
  return own instanceof Uint8Array ? { '': own.toHex() } : value
}

function readBytes(_: string, value: unknown): unknown {
  const hex = (value as Record<string, unknown> | null)?.['']
  return typeof hex === 'string' ? Uint8Array.fromHex(hex) : value
}
