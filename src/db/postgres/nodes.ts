import { limits } from '../../base/limits.ts'
import {
  type Difference,
  type Fingerprints,
  type KnownNode,
  leader,
  type NodeFigures,
  type Nodes,
  type Waiting,
} from '../database.ts'
import type { Connection } from './connection.ts'
import type { Leasing } from './leases.ts'
import { type NewsLine, serviceChannel } from './news.ts'

/**
 * A row is as old as its last beat. Its backend is the process of the server that holds the leases of the node, and
 * `read_to` the transaction from which on it has not read the news of the others. Its settings are fingerprints, as JSON.
 */
export const nodeSchema = [
  `CREATE TABLE nodes (
     id UUID PRIMARY KEY,
     name TEXT COLLATE "C" NOT NULL,
     version TEXT COLLATE "C" NOT NULL,
     schema BIGINT NOT NULL,
     address TEXT COLLATE "C",
     backend BIGINT NOT NULL,
     read_to XID8,
     settings TEXT COLLATE "C" NOT NULL,
     started_at TIMESTAMPTZ NOT NULL,
     seen_at TIMESTAMPTZ NOT NULL
   )`,
]

/** True if a node wrote its row a moment ago. It may be without a session now, and go on. */
export async function hasNode(connection: Connection): Promise<boolean> {
  const { rows } = await connection.send(`SELECT to_regclass('nodes') IS NOT NULL AS there`, [])
  if (rows[0]?.there !== true) return false
  const { count } = await connection.send(
    'SELECT 1 FROM nodes WHERE seen_at > clock_timestamp() - make_interval(secs => $1) LIMIT 1',
    [limits.nodeSilentSeconds],
  )
  return count > 0
}

/** A node as it begins: its name and the version of its program. */
export type NodeIdentity = Pick<KnownNode, 'name' | 'version'>

type Parts = {
  identity: NodeIdentity
  leasing: Leasing
  administer: <T>(run: (connection: Connection) => Promise<T>) => Promise<T>
  /** The same for statements that write. */
  change: <T>(run: (connection: Connection) => Promise<T>) => Promise<T>
  /** The news that this node reads. */
  news: Pick<NewsLine, 'node' | 'readTo'>
  figures: () => NodeFigures
  /** The schema of the database has gone on beyond what this program can use. */
  outdated: (schema: number) => void
}

/** True of the node whose session has the lock of the leader (leases.ts). */
const leads = `EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted AND pid = backend
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND (CAST(classid AS BIGINT) << 32) | CAST(objid AS BIGINT) = hashtextextended('${leader}', 1))`

const unread = `(SELECT count(*) FROM (
  SELECT 1 FROM changes WHERE channel = '${serviceChannel}' AND xid >= read_to AND node <> nodes.id
  LIMIT ${limits.countedMax}) AS of_others)`

/** Names of the settings that both have, and have otherwise. A node of another version may know fewer. */
function differencesOf(own: Fingerprints, others: Fingerprints): string[] {
  return Object.keys(own).filter((name) => name in others && own[name] !== others[name])
}

const epoch = (column: string) => `CAST(extract(epoch FROM ${column}) AS DOUBLE PRECISION)`

/** The row of this node, written again with each beat, and those of the others. */
export class Membership implements Nodes {
  readonly id: string
  readonly #parts: Parts
  readonly #startedMs = performance.now()
  #schema = 0
  #address: string | null = null
  #settings: Fingerprints = {}
  #beat: ReturnType<typeof setInterval> | null = null

  constructor(parts: Parts) {
    this.#parts = parts
    this.id = parts.news.node
  }

  /** Write the row, and go on with it until `leave`. `schema` is the version that the program was made for. */
  async join(schema: number): Promise<void> {
    this.#schema = schema
    await this.#write()
    this.#beat = setInterval(() => this.#again(), limits.leaseBeatSeconds * 1000)
    this.#beat.unref()
  }

  listening(address: string): void {
    this.#address = address
    this.#again()
  }

  async list(): Promise<KnownNode[]> {
    const { rows } = await this.#parts.administer((connection) =>
      connection.send(
        `SELECT id, name, version, schema, address, settings, ${epoch('started_at')} AS started,
           ${epoch('clock_timestamp() - seen_at')} AS silent, ${leads} AS leads,
           ${unread} AS unread
         FROM nodes ORDER BY started_at, id`,
        [],
      ),
    )
    return rows.map((row) => ({
      id: String(row.id),
      name: String(row.name),
      version: String(row.version),
      schema: Number(row.schema),
      address: row.address === null ? null : String(row.address),
      leads: row.leads === true,
      differing: differencesOf(this.#settings, JSON.parse(String(row.settings))),
      unread: Number(row.unread),
      startedAt: Math.round(Number(row.started)),
      silentSeconds: Math.max(0, Number(row.silent)),
    }))
  }

  async agree(settings: Fingerprints, equal: ReadonlySet<string>): Promise<Difference[]> {
    const seen = new Map<string, number>()
    for (;;) {
      const { differences, refusing } = await this.#parts.change((connection) =>
        this.#compare(connection, settings, equal),
      )
      if (refusing.length === 0) {
        this.#settings = settings
        return differences
      }
      // A row of a node that died a moment ago has no beat any more.
      if (refusing.some(({ id, seenAt }) => seenAt > (seen.get(id) ?? seenAt))) return differences
      for (const { id, seenAt } of refusing) if (!seen.has(id)) seen.set(id, seenAt)
      await Bun.sleep(250)
    }
  }

  /** Compare the settings with those of the nodes that are not silent, and store them unless one must not differ. */
  async #compare(connection: Connection, settings: Fingerprints, equal: ReadonlySet<string>) {
    await connection.send('BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE', [])
    await connection.send(`SELECT pg_advisory_xact_lock(hashtextextended('settings', 0))`, [])
    const { rows } = await connection.send(
      `SELECT id, name, settings, ${epoch('seen_at')} AS seen FROM nodes
       WHERE id <> $1 AND seen_at > clock_timestamp() - make_interval(secs => $2)
       ORDER BY started_at, id`,
      [this.id, limits.nodeSilentSeconds],
    )
    const others = rows.map((row) => ({
      ...{ id: String(row.id), node: String(row.name), seenAt: Number(row.seen) },
      settings: differencesOf(settings, JSON.parse(String(row.settings))),
    }))
    const refusing = others.filter((other) => other.settings.some((name) => equal.has(name)))
    if (refusing.length === 0) {
      await connection.send('UPDATE nodes SET settings = $2 WHERE id = $1', [
        this.id,
        JSON.stringify(settings),
      ])
    }
    await connection.send('COMMIT', [])
    const differences = others
      .filter((other) => other.settings.length > 0)
      .map(({ node, settings }) => ({ node, settings }))
    return { differences, refusing }
  }

  async waiting(): Promise<Waiting> {
    const { rows } = await this.#parts.administer((connection) =>
      connection.send(
        'SELECT count(*) AS n FROM (SELECT 1 FROM counter_changes LIMIT $1) AS unfolded',
        [limits.countedMax],
      ),
    )
    return { unfolded: Number(rows[0]?.n) }
  }

  figures(): NodeFigures {
    return this.#parts.figures()
  }

  /** Delete the row. */
  async leave(): Promise<void> {
    if (this.#beat === null) return
    clearInterval(this.#beat)
    this.#beat = null
    // A row that stays is that of a node that died.
    const left = this.#parts.leasing
      .send('DELETE FROM nodes WHERE id = $1', [this.id])
      .catch(() => undefined)
    await Promise.race([left, Bun.sleep(limits.databaseFarewellSeconds * 1000)])
  }

  #again(): void {
    // A server that is away is told by the operations; the next beat writes again.
    this.#write().catch(() => undefined)
  }

  async #write(): Promise<void> {
    const { identity, leasing, news } = this.#parts
    const { name, version } = identity
    const uptime = (performance.now() - this.#startedMs) / 1000
    const { rows } = await leasing.send(
      `INSERT INTO nodes (id, name, version, schema, address, backend, read_to, settings, started_at, seen_at)
       VALUES ($1, $2, $3, $4, $5, pg_backend_pid(), CAST($7 AS xid8), $8,
         clock_timestamp() - make_interval(secs => $6), clock_timestamp())
       ON CONFLICT (id) DO UPDATE SET
         address = excluded.address, backend = excluded.backend, read_to = excluded.read_to,
         seen_at = excluded.seen_at
       RETURNING (SELECT version FROM schema_version) AS standing`,
      [
        this.id,
        name,
        version,
        this.#schema,
        this.#address,
        uptime,
        news.readTo,
        JSON.stringify(this.#settings),
      ],
    )
    const standing = Number(rows[0]?.standing)
    if (standing > this.#schema + 1) this.#parts.outdated(standing)
  }
}

/** Delete the rows of nodes that died. A node that was only silent writes its row again. */
export async function forgetNodes(connection: Connection): Promise<void> {
  await connection.send(
    'DELETE FROM nodes WHERE seen_at < clock_timestamp() - make_interval(secs => $1)',
    [limits.nodeKeptSeconds],
  )
}
