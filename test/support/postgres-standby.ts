/** Standbys of a PostgreSQL server for tests. The package has no pg_basebackup, so that a directory is copied. */
import { spawnSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Connection } from '../../src/db/postgres/connection.ts'
import type { Postgres } from './postgres.ts'
import { until } from './until.ts'

/** A connection of the superuser. */
export function administer(server: Postgres, database = 'postgres'): Promise<Connection> {
  const connectionString = server.url(database, 'postgres')
  return Connection.open({ connectionString }, 10_000, () => undefined)
}

type Following = {
  name: string
  /** From then on commits of the primary wait for it. */
  waited: boolean
  /** The way to the primary, if it is not the direct one. */
  through?: Pick<Postgres, 'socket'>
  settings?: Record<string, string>
}

/** Start a standby of a running server, and resolve when it follows. */
export async function startStandby(
  primary: Postgres,
  { name, waited, through = primary, settings = {} }: Following,
): Promise<Postgres> {
  const connection = await administer(primary)
  try {
    const follow = `host=${through.socket} user=postgres application_name=${name}`
    const standby = await primary.beside(
      { ...settings, primary_conninfo: follow },
      async (data) => {
        await copyData(connection, primary.data, data)
        writeFileSync(join(data, 'standby.signal'), '')
      },
    )
    await until('the standby follows', async () => (await stateOf(connection, name)) === 'async')
    if (waited) await waitFor(connection, name)
    return standby
  } finally {
    connection.destroy()
  }
}

/** Copy the directory of a running server into an empty one, as a base backup. */
export async function copyData(connection: Connection, from: string, to: string): Promise<void> {
  await connection.send(`SELECT pg_backup_start('copy', true)`, [])
  // A file that ends meanwhile is told as a failure, and is none.
  spawnSync('cp', ['-a', `${from}/.`, to])
  for (const left of ['postmaster.pid', 'postmaster.opts', 'standby.signal']) {
    rmSync(join(to, left), { force: true })
  }
  const { rows } = await connection.send('SELECT labelfile FROM pg_backup_stop(false)', [])
  writeFileSync(join(to, 'backup_label'), String(rows[0]?.labelfile))
}

async function waitFor(connection: Connection, name: string): Promise<void> {
  await connection.send(`ALTER SYSTEM SET synchronous_standby_names = '${name}'`, [])
  await connection.send('SELECT pg_reload_conf()', [])
  await until('commits wait for it', async () => (await stateOf(connection, name)) === 'sync')
}

/** How commits of a server wait for a standby. Null while it does not stream. */
async function stateOf(connection: Connection, name: string): Promise<string | null> {
  const { rows } = await connection.send(
    `SELECT sync_state FROM pg_stat_replication WHERE application_name = $1 AND state = 'streaming'`,
    [name],
  )
  return rows.length === 0 ? null : String(rows[0]?.sync_state)
}

/** Promote a standby, and resolve when it takes writes. It waits for no other one. */
export async function promote(standby: Postgres): Promise<void> {
  await standby.promote()
  await until('the standby takes writes', async () => {
    const connection = await administer(standby)
    try {
      const { rows } = await connection.send('SELECT pg_is_in_recovery() AS standby', [])
      return rows[0]?.standby === false
    } finally {
      connection.destroy()
    }
  })
}
