/**
 * Programs that Patroni calls and the package of PostgreSQL leaves out, run by the first argument: `pg_controldata`,
 * `pg_isready`, and `copy`, which makes a replica.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Connection, ConnectionLost } from '../../../src/db/postgres/connection.ts'
import { copyData } from '../../support/postgres-standby.ts'

/** DBState of pg_control.h. */
const states = [
  'starting up',
  'shut down',
  'shut down in recovery',
  'shutting down',
  'in crash recovery',
  'in archive recovery',
  'in production',
]

/** The lines that Patroni reads, from the file of PostgreSQL 18 on a machine with little-endian numbers. */
function controlData(data: string): string {
  const file = readFileSync(join(data, 'global', 'pg_control'))
  const lsn = (at: number) =>
    `${file.readUInt32LE(at + 4).toString(16)}/${file.readUInt32LE(at).toString(16)}`.toUpperCase()
  if (file.readUInt32LE(8) !== 1800) throw new Error('this is not the file of PostgreSQL 18')
  const values = {
    'Database system identifier': file.readBigUInt64LE(0),
    'Database cluster state': states[file.readUInt32LE(16)],
    'Latest checkpoint location': lsn(32),
    "Latest checkpoint's REDO location": lsn(40),
    "Latest checkpoint's TimeLineID": file.readUInt32LE(48),
    'Minimum recovery ending location': lsn(136),
    "Min recovery ending loc's timeline": file.readUInt32LE(144),
    'wal_log_hints setting': 'off',
    'max_connections setting': file.readUInt32LE(180),
    'max_worker_processes setting': file.readUInt32LE(184),
    'max_wal_senders setting': file.readUInt32LE(188),
    'max_prepared_xacts setting': file.readUInt32LE(192),
    'max_locks_per_xact setting': file.readUInt32LE(196),
    'Data page checksum version': 0,
  }
  return Object.entries(values)
    .map(([name, value]) => `${name}: ${value}\n`)
    .join('')
}

/** The exit code of pg_isready: 0 accepts, 1 rejects, 2 does not answer. */
async function readiness(args: string[]): Promise<number> {
  const text = { type: 'string' } as const
  const { values } = parseArgs({
    args,
    options: {
      host: { ...text, short: 'h' },
      port: { ...text, short: 'p' },
      dbname: { ...text, short: 'd' },
      username: { ...text, short: 'U' },
    },
  })
  try {
    const connection = await Connection.open(
      {
        host: values.host ?? '127.0.0.1',
        port: Number(values.port),
        user: values.username ?? 'postgres',
        database: values.dbname ?? 'postgres',
      },
      3000,
      () => undefined,
    )
    connection.destroy()
    return 0
  } catch (cause) {
    if (!(cause instanceof ConnectionLost)) throw cause
    if (/ECONNREFUSED|timeout|ENOENT/.test(cause.message)) return 2
    return /starting up|shutting down|recovery|not yet accepting/.test(cause.message) ? 1 : 0
  }
}

/** Copy the data of the server that Patroni names. */
async function copy(args: string[]): Promise<void> {
  const text = { type: 'string' } as const
  const { values } = parseArgs({
    args,
    strict: false,
    options: { datadir: text, connstring: text, password: text },
  })
  const named = Object.fromEntries(
    [...String(values.connstring).matchAll(/(\w+)=(?:'([^']*)'|(\S+))/g)].map(
      ([, name, quoted, plain]) => [name, quoted ?? plain],
    ),
  )
  const connection = await Connection.open(
    {
      host: String(named.host),
      port: Number(named.port),
      user: 'postgres',
      password: String(values.password),
      database: 'postgres',
    },
    10_000,
    () => undefined,
  )
  const { rows } = await connection.send('SHOW data_directory', [])
  const data = String(values.datadir)
  spawnSync('mkdir', ['-p', '-m', '700', data])
  await copyData(connection, String(rows[0]?.data_directory), data)
  connection.destroy()
}

const [program, ...args] = process.argv.slice(2)
if (program === 'pg_controldata') process.stdout.write(controlData(args.at(-1) ?? ''))
else if (program === 'pg_isready') process.exit(await readiness(args))
else await copy(args)
