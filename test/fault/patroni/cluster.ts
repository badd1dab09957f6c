/**
 * Three servers of PostgreSQL under Patroni in strict synchronous mode, with etcd, from Debian's packages `patroni` and
 * `etcd-server`. Patroni runs the newer PostgreSQL of the tests.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { Connection } from '../../../src/db/postgres/connection.ts'
import { asUser, installPostgres, killAll } from '../../support/postgres.ts'
import { until } from '../../support/until.ts'

type Member = { name: string; role: string; state: string; port: number }
type Node = { name: string; port: number; api: number; home: string; data: string }

/** Start the cluster, and resolve when it has a leader and a synchronous standby. Throws without the packages. */
export async function openPatroni() {
  for (const program of ['patroni', 'etcd']) {
    if (spawnSync('which', [program]).status === 0) continue
    throw new Error('this needs patroni and etcd: apt-get install patroni etcd-server')
  }
  const { home, programs } = installPostgres()
  addPrograms(programs)
  const [client = 0, peer = 0, ...others] = await freePorts(8)
  const nodes = [0, 1, 2].map((place): Node => {
    const name = `node${place}`
    const own = join(home, name)
    makeOwn(own)
    const [port = 0, api = 0] = others.slice(place * 2)
    return { name, port, api, home: own, data: join(own, 'data') }
  })
  const children = new Set<ChildProcess>()
  const run = (...command: string[]) => {
    const [program = '', ...args] = asUser(...command)
    const log = process.env.PATRONI_LOG === undefined ? 'ignore' : 'inherit'
    const child = spawn(program, args, { stdio: ['ignore', log, log], cwd: home })
    children.add(child)
    child.once('exit', () => children.delete(child))
    return child
  }
  const etcdAt = `http://127.0.0.1:${client}`
  const peers = `http://127.0.0.1:${peer}`
  makeOwn(join(home, 'etcd'))
  run(
    'etcd',
    ...['--data-dir', join(home, 'etcd', 'data'), '--unsafe-no-fsync', '--log-level', 'error'],
    ...['--listen-client-urls', etcdAt, '--advertise-client-urls', etcdAt],
    ...['--listen-peer-urls', peers, '--initial-advertise-peer-urls', peers],
    ...['--initial-cluster', `default=${peers}`],
  )
  const running = new Map<string, ChildProcess>()
  const startNode = (node: Node) => {
    const file = join(node.home, 'patroni.json')
    writeFileSync(file, JSON.stringify(settingsOf(node, { programs, etcd: client }), null, 2))
    running.set(node.name, run('patroni', file))
  }
  for (const node of nodes) startNode(node)

  const members = async (): Promise<Member[]> => {
    for (const { api } of nodes) {
      try {
        const answer = await fetch(`http://127.0.0.1:${api}/cluster`)
        return ((await answer.json()) as { members: Member[] }).members
      } catch (cause) {
        if (!(cause instanceof Error)) throw cause
      }
    }
    return []
  }
  const leader = async () => {
    const found = (await members()).find(
      ({ role, state }) => role === 'leader' && state === 'running',
    )
    return nodes.find(({ name }) => name === found?.name) ?? null
  }
  const whole = async () => {
    const all = await members()
    const well = all.filter(({ state }) => ['running', 'streaming'].includes(state))
    return well.length === nodes.length && well.some(({ role }) => role === 'sync_standby')
  }
  const stop = () => {
    for (const child of children) child.kill('SIGKILL')
    for (const node of nodes) killServer(node)
    rmSync(home, { recursive: true, force: true })
  }
  try {
    await until('Patroni has a leader, a synchronous standby and a replica', whole, 120)
  } catch (cause) {
    stop()
    throw cause
  }
  const connect = async (database: string) => {
    const found = await leader()
    if (!found) throw new Error('there is no leader')
    const config = { host: '127.0.0.1', port: found.port, user: 'postgres', database }
    return Connection.open(config, 10_000, () => undefined)
  }
  return {
    connect,
    /** The address of a database, with every server. */
    url: (database: string) =>
      `postgres://cuponera@${nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}/${database}`,
    /** Kill the leader with its Patroni, and throw its disk away. Resolves to the machine that died. */
    async killLeader(): Promise<() => void> {
      const node = await leader()
      if (!node) throw new Error('there is no leader')
      running.get(node.name)?.kill('SIGKILL')
      killServer(node)
      return () => {
        rmSync(node.data, { recursive: true, force: true })
        startNode(node)
      }
    },
    whole: () => until('Patroni has all servers again', whole, 180),
    stop,
  }
}

function killServer({ data }: Node): void {
  const file = join(data, 'postmaster.pid')
  if (!existsSync(file)) return
  killAll(Number(readFileSync(file, 'utf8').split('\n')[0]))
  rmSync(file)
}

/** Directories of the user that PostgreSQL runs as. */
function makeOwn(directory: string): void {
  mkdirSync(directory)
  spawnSync('chown', ['--reference', join(directory, '..'), directory])
}

/** Put the programs that the package leaves out beside its own. */
function addPrograms(programs: string): void {
  for (const name of ['pg_controldata', 'pg_isready', 'copy']) {
    const file = join(programs, 'bin', name)
    const tools = join(import.meta.dir, 'tools.ts')
    writeFileSync(file, `#!/bin/sh\nexec '${process.execPath}' '${tools}' ${name} "$@"\n`)
    chmodSync(file, 0o755)
  }
}

function settingsOf(node: Node, { programs, etcd }: { programs: string; etcd: number }) {
  const { name, port, api, home, data } = node
  const address = `127.0.0.1:${port}`
  // Nobody asks for the password, but initdb wants one.
  const user = { username: 'postgres', password: 'none' }
  return {
    ...{ scope: 'cuponera', name },
    restapi: { listen: `127.0.0.1:${api}`, connect_address: `127.0.0.1:${api}` },
    etcd3: { host: `127.0.0.1:${etcd}` },
    bootstrap: {
      dcs: {
        ...{ ttl: 20, loop_wait: 2, retry_timeout: 5 },
        ...{ synchronous_mode: true, synchronous_mode_strict: true },
        postgresql: { use_pg_rewind: false, parameters: { max_connections: 120 } },
      },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C' }],
    },
    postgresql: {
      ...{ listen: address, connect_address: address, data_dir: data },
      bin_dir: join(programs, 'bin'),
      pgpass: join(home, 'pgpass'),
      authentication: { superuser: user, replication: user },
      pg_hba: [
        'local all all trust',
        'host all all 127.0.0.1/32 trust',
        'host replication all 127.0.0.1/32 trust',
      ],
      parameters: { unix_socket_directories: home, shared_buffers: '32MB' },
      create_replica_methods: ['copy'],
      // A replica that was ahead of the synchronous standby when that was promoted is made anew.
      remove_data_directory_on_diverged_timelines: true,
      copy: { command: join(programs, 'bin', 'copy') },
    },
  }
}

async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer())
  const ports: number[] = []
  for (const server of servers) {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    ports.push((server.address() as { port: number }).port)
  }
  for (const server of servers) await new Promise((resolve) => server.close(resolve))
  return ports
}
