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
  await setStandby(connection, name)
  await until('commits wait for it', async () => (await stateOf(connection, name)) === 'sync')
  // The checkpointer puts the name in force, before it begins a checkpoint that was asked for.
  await connection.send('CHECKPOINT', [])
}

/** Let commits wait for a standby that is not there, or for none, and resolve when they do. */
export async function nameStandby(server: Postgres, name: string): Promise<void> {
  const connection = await administer(server)
  try {
    await setStandby(connection, name)
    if (name !== '') await untilCommitsWait(server, connection)
  } finally {
    connection.destroy()
  }
}

async function setStandby(connection: Connection, name: string): Promise<void> {
  await connection.send(`ALTER SYSTEM SET synchronous_standby_names = '${name}'`, [])
  await connection.send('SELECT pg_reload_conf()', [])
  await until('the server knows the standby', async () => {
    const { rows } = await connection.send('SHOW synchronous_standby_names', [])
    return rows[0]?.synchronous_standby_names === name
  })
}

/** Sessions show the name some time before commits wait: a commit is made until one waits, and is let go. */
async function untilCommitsWait(server: Postgres, connection: Connection): Promise<void> {
  const probe = await administer(server)
  const [own] = (await probe.send('SELECT pg_backend_pid() AS pid', [])).rows
  let ended = true
  const commit = async () => {
    ended = false
    await probe.send("SELECT pg_logical_emit_message(true, 'probe', '')", [])
    ended = true
  }
  const waits = `pid = ${own?.pid} AND wait_event = 'SyncRep'`
  await until('commits wait', async () => {
    if (ended) void commit()
    const { rows } = await connection.send(`SELECT pid FROM pg_stat_activity WHERE ${waits}`, [])
    return rows.length > 0
  })
  await connection.send('SELECT pg_cancel_backend($1)', [Number(own?.pid)])
  await until('the probe is let go', () => ended)
  probe.destroy()
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
