import type { Connection } from './connection.ts'

/** The oldest PostgreSQL with `IS JSON`. */
const versionMin = 160_000

/** A server, as its operator wants to see it at the start. */
export type ServerFacts = {
  /** As the server writes it, such as 18.4. */
  version: string
  /** The word of `synchronous_commit` for our sessions. */
  durability: string
  /** The standbys that a commit waits for, as the server names them. Empty: none. */
  standbys: string
}

/** One look at a server. */
export type Look = {
  facts: ServerFacts
  /** False of a standby and of a primary that is read-only. */
  writes: boolean
  /** The clock of the server, in Unix seconds. */
  clock: number
  /** The number of the installation that a primary and its standbys share, and how often one was promoted. */
  system: string
  timeline: number
  /** Another one after each start of the server, and after each recovery from the death of one of its processes. */
  start: string
  /** The reason why this server may not be used. Null: none. */
  problem: string | null
}

/** A connection with the look at its server. */
export type Connected = { connection: Connection; look: Look }

/**
 * Settings of our sessions, whatever the server, its role or its database has. A node that goes away without a word
 * frees its locks within seconds, and a backend that waits for a lock notices, too. Warnings are always told: one
 * says that a commit is not at its standby. A server without a setting leaves it out.
 */
const pinned = {
  application_name: 'cuponera',
  bytea_output: 'hex',
  client_connection_check_interval: '2000',
  client_min_messages: 'notice',
  extra_float_digits: '1',
  idle_in_transaction_session_timeout: '10000',
  idle_session_timeout: '0',
  lock_timeout: '0',
  standard_conforming_strings: 'on',
  statement_timeout: '0',
  tcp_keepalives_count: '2',
  tcp_keepalives_idle: '5',
  tcp_keepalives_interval: '2',
  tcp_user_timeout: '9000',
  transaction_timeout: '0',
} satisfies Record<string, string>

const pin = `SELECT set_config(name, wanted.value, false)
  FROM (VALUES ${Object.entries(pinned)
    .map(([name, value]) => `('${name}', '${value}')`)
    .join(', ')}) AS wanted (name, value)
  JOIN pg_settings USING (name)`

/** A commit waits for the disk and the standby. One that also waits until it can be read there stays so. */
const pinCommit = `SELECT set_config('synchronous_commit', 'on', false)
  WHERE current_setting('synchronous_commit') <> 'remote_apply'`

const look = `SELECT
  current_setting('server_version_num') AS number,
  current_setting('server_version') AS version,
  current_setting('synchronous_commit') AS durability,
  (SELECT reset_val FROM pg_settings WHERE name = 'synchronous_commit') AS asked,
  current_setting('synchronous_standby_names') AS standbys,
  current_setting('fsync') AS fsync,
  current_setting('full_page_writes') AS full_page_writes,
  current_setting('server_encoding') AS encoding,
  NOT pg_is_in_recovery() AND current_setting('transaction_read_only') = 'off' AS writes,
  CASE WHEN pg_is_in_recovery() THEN NULL
    ELSE substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END AS timeline,
  CAST((SELECT system_identifier FROM pg_control_system()) AS TEXT) AS system,
  -- A recovery forgets the figures, and not when the main process began.
  concat_ws(' ', pg_postmaster_start_time(), (SELECT stats_reset FROM pg_stat_bgwriter)) AS start,
  CAST(extract(epoch FROM clock_timestamp()) AS DOUBLE PRECISION) AS clock`

/** Pin the settings of a new session, and look at its server. */
export async function settleSession(connection: Connection): Promise<Look> {
  const pinning = [pin, pinCommit].map((text) => connection.send(text, []))
  const [{ rows }] = await Promise.all([connection.send(look, []), ...pinning])
  const row = Object.fromEntries(
    Object.entries(rows[0] ?? {}).map(([name, value]) => [name, String(value)]),
  )
  return {
    facts: {
      version: row.version ?? '',
      durability: row.durability ?? '',
      standbys: row.standbys ?? '',
    },
    writes: row.writes === 'true',
    clock: Number(row.clock),
    system: row.system ?? '',
    timeline: Number.parseInt(row.timeline ?? '', 16),
    start: `${row.system} ${row.timeline} ${row.start}`,
    problem: problemOf(row),
  }
}

function problemOf(row: Record<string, string>): string | null {
  if (Number(row.number) < versionMin) {
    return `PostgreSQL ${row.version} is too old: 16 or newer is needed`
  }
  for (const [name, value] of [
    ['fsync', row.fsync],
    ['full_page_writes', row.full_page_writes],
    ['synchronous_commit', row.asked],
  ]) {
    if (value === 'off') return `PostgreSQL has ${name} = off: an answered write could be lost`
  }
  if (row.standbys !== '' && row.asked === 'local') {
    return 'PostgreSQL has synchronous_commit = local: a commit waits for no standby'
  }
  if (row.encoding !== 'UTF8') {
    return `the database has the encoding ${row.encoding}: create it with ENCODING 'UTF8'`
  }
  return null
}

/** The clock of a server, in Unix seconds. */
export async function readClock(connection: Connection): Promise<number> {
  const { rows } = await connection.send(
    'SELECT CAST(extract(epoch FROM clock_timestamp()) AS DOUBLE PRECISION) AS clock',
    [],
  )
  return Number(rows[0]?.clock)
}
