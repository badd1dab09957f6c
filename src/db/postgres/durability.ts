import { OperatorError } from '../../base/operator-error.ts'
import type { Connection } from './connection.ts'

/** The oldest PostgreSQL with `IS JSON`. */
const versionMin = 160_000

/** A server, as its operator wants to see it at the start. */
export type ServerFacts = {
  /** As the server writes it, such as 18.4. */
  version: string
  /** The word of `synchronous_commit`. */
  durability: string
  /** The standbys that a commit waits for, as the server names them. Empty: none. */
  standbys: string
}

/** Values with which an answered write can be lost. */
const unsafe: Record<string, readonly string[]> = {
  fsync: ['off'],
  full_page_writes: ['off'],
  synchronous_commit: ['off'],
}

/** Refuse a server that is too old, or that answers before a commit is on disk. */
export async function inspectServer(connection: Connection): Promise<ServerFacts> {
  const names = ['server_version_num', 'server_version', 'synchronous_standby_names']
  const { rows } = await connection.send(
    'SELECT name, setting FROM pg_settings WHERE name = ANY ($1)',
    [`{${[...names, ...Object.keys(unsafe)].join(',')}}`],
  )
  const settings = new Map(rows.map(({ name, setting }) => [String(name), String(setting)]))
  const of = (name: string) => settings.get(name) ?? ''
  if (Number(of('server_version_num')) < versionMin) {
    throw new OperatorError(`PostgreSQL ${of('server_version')} is too old: 16 or newer is needed`)
  }
  for (const [name, values] of Object.entries(unsafe)) {
    if (values.includes(of(name))) {
      throw new OperatorError(
        `PostgreSQL has ${name} = ${of(name)}: an answered write could be lost`,
      )
    }
  }
  const standbys = of('synchronous_standby_names')
  if (standbys !== '' && of('synchronous_commit') === 'local') {
    throw new OperatorError(
      'PostgreSQL has synchronous_commit = local: a commit waits for no standby',
    )
  }
  return { version: of('server_version'), durability: of('synchronous_commit'), standbys }
}

/** The clock of a server that takes writes, in Unix seconds. Null of a standby and of a primary that is read-only. */
export async function clockOfPrimary(connection: Connection): Promise<number | null> {
  const { rows } = await connection.send(
    `SELECT NOT pg_is_in_recovery() AND current_setting('transaction_read_only') = 'off' AS writes,
       CAST(extract(epoch FROM clock_timestamp()) AS DOUBLE PRECISION) AS clock`,
    [],
  )
  return rows[0]?.writes === true ? Number(rows[0].clock) : null
}
