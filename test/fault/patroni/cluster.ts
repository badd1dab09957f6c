/**
 * Servers of PostgreSQL under Patroni, as docs/cluster.md configures them, with one etcd, from Debian's packages `patroni`
 * and `etcd-server`. Patroni runs the newer PostgreSQL of the tests.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { Connection } from '../../../src/db/postgres/connection.ts'
import { freePorts } from '../../support/ports.ts'
import { asUser, installPostgres, killAll } from '../../support/postgres.ts'
import { blockWith, readText } from '../../support/printed.ts'
import { until } from '../../support/until.ts'

type Member = { name: string; role: string; state: string; port: number }
type Node = { name: string; port: number; api: number; home: string; data: string }

export const hasPatroni = Bun.which('patroni') !== null && Bun.which('etcd') !== null

/** A program ended before all was up: something else may have taken its port meanwhile. */
class EndedEarly extends Error {}

/**
 * Start three servers, and resolve when there is a leader and a synchronous standby; or one alone, with the file of the page
 * and nothing else, and resolve when it leads. Throws without the packages.
 */
export async function openPatroni(count: 1 | 3 = 3): ReturnType<typeof openOnce> {
  if (!hasPatroni) {
    throw new Error('this needs patroni and etcd: apt-get install patroni etcd-server')
  }
  for (let again = 0; ; again++) {
    try {
      return await openOnce(count)
    } catch (cause) {
      if (!(cause instanceof EndedEarly) || again === 2) throw cause
    }
  }
}

async function openOnce(count: 1 | 3) {
  const { home, programs } = installPostgres()
  addPrograms(programs)
  const [client = 0, peer = 0, ...others] = await freePorts(2 + 2 * count)
  const nodes = [0, 1, 2].slice(0, count).map((place): Node => {
    const name = `db${place + 1}`
    const own = join(home, name)
    makeOwn(own)
    const [port = 0, api = 0] = others.slice(place * 2)
    return { name, port, api, home: own, data: join(own, 'data') }
  })
  const logFile = join(home, 'log')
  const log = openSync(logFile, 'a')
  const said = () => readFileSync(logFile, 'utf8').slice(-2000)
  const children = new Set<ChildProcess>()
  /** The first program that ended. */
  let ended: string | null = null
  const run = (command: string[], env = process.env) => {
    const [program = '', ...args] = asUser(...command)
    const child = spawn(program, args, { stdio: ['ignore', log, log], cwd: home, env })
    children.add(child)
    child.once('exit', () => {
      children.delete(child)
      ended ??= command[0] ?? program
    })
    return child
  }
  const etcdAt = `http://127.0.0.1:${client}`
  const peers = `http://127.0.0.1:${peer}`
  makeOwn(join(home, 'etcd'))
  run([
    'etcd',
    ...['--data-dir', join(home, 'etcd', 'data'), '--unsafe-no-fsync', '--log-level', 'error'],
    ...['--listen-client-urls', etcdAt, '--advertise-client-urls', etcdAt],
    ...['--listen-peer-urls', peers, '--initial-advertise-peer-urls', peers],
    ...['--initial-cluster', `default=${peers}`],
  ])
  const running = new Map<string, ChildProcess>()
  const startNode = (node: Node) => {
    const file = join(node.home, 'patroni.yml')
    const printed = printedFile(node, programs)
    writeFileSync(file, count === 1 ? printed : withReplicas(printed, programs))
    giveAway(file)
    // The command of the unit.
    const unit = readText('docs/cluster/patroni.service')
    const command = /^ExecStart=(.*)$/m.exec(unit)?.[1]?.replace('/etc/patroni/patroni.yml', file)
    const [program = '', ...args] = command?.replace('/usr/bin/', '').split(' ') ?? []
    running.set(node.name, run([program, ...args], printedEnvironment(node, client)))
  }

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
    const wanted = count === 1 ? 'leader' : 'sync_standby'
    return well.length === nodes.length && well.some(({ role }) => role === wanted)
  }
  const stop = () => {
    for (const child of children) child.kill('SIGKILL')
    for (const node of nodes) killServer(node)
    closeSync(log)
    rmSync(home, { recursive: true, force: true })
  }
  try {
    for (const node of nodes) startNode(node)
    const up = () => {
      if (ended !== null) throw new EndedEarly(`${ended} ended: ${said()}`)
      return whole()
    }
    await until('Patroni has a leader, a synchronous standby and a replica', up, 120)
  } catch (cause) {
    stop()
    throw cause
  }
  const connect = async (database: string) => {
    const found = await leader()
    if (!found) throw new Error('there is no leader')
    const config = { host: '127.0.0.1', port: found.port, user: 'postgres', password, database }
    return Connection.open(config, 10_000, () => undefined)
  }
  return {
    connect,
    /** The address of a database, with every server. */
    url: (database: string) =>
      `postgres://cuponera:${password}@${nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}/${database}`,
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
    /** The member that takes writes, with the process of its Patroni. */
    async leading() {
      const node = await leader()
      if (!node) throw new Error('there is no leader')
      return { ...node, password, patroni: running.get(node.name) }
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
  giveAway(directory)
}

/** Give a file to the owner of its directory: it is for its user alone where a service ran in this process before. */
function giveAway(path: string): void {
  spawnSync('chown', ['--reference', join(path, '..'), path])
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

/** The password of each role. */
const password = 'clave'

/** The file of the page, with the places of one member. */
function printedFile({ port, api, home, data }: Node, programs: string): string {
  const places = {
    '0.0.0.0:8008': `127.0.0.1:${api}`,
    '0.0.0.0:5432': `127.0.0.1:${port}`,
    '/var/lib/postgresql/18/cuponera': data,
    '/usr/lib/postgresql/18/bin': join(programs, 'bin'),
    '/var/run/postgresql': home,
  }
  return replaceAll(readText('docs/cluster/patroni.yml'), places)
}

/** The block of the page for one member, as systemd gives it to Patroni. */
function printedEnvironment({ name, port, api, home }: Node, etcd: number) {
  const block = blockWith('docs/cluster.md', 'PATRONI_NAME=')
  const places = {
    'PATRONI_NAME=db1': `PATRONI_NAME=${name}`,
    '10.0.0.11:5432': `127.0.0.1:${port}`,
    '10.0.0.11:8008': `127.0.0.1:${api}`,
    '10.0.0.11:2379,10.0.0.12:2379,10.0.0.13:2379': `127.0.0.1:${etcd}`,
    '…': password,
  }
  const lines = replaceAll(block, places).trim().split('\n')
  const given = lines.map((line) => line.trim().split('=') as [string, string])
  return { PATH: process.env.PATH, HOME: home, ...Object.fromEntries(given) }
}

/** Put a place of this machine for each printed one. Throws where the page does not have it. */
function replaceAll(text: string, places: Record<string, string>): string {
  return Object.entries(places).reduce((made, [printed, here]) => {
    if (!made.includes(printed)) throw new Error(`the page has no ${printed}`)
    return made.replaceAll(printed, here)
  }, text)
}

/** Make replicas without pg_basebackup and pg_rewind, and let the campaign read its own database. */
function withReplicas(file: string, programs: string): string {
  type Lists = { pg_hba: string[]; parameters: Record<string, string> }
  const printed = Bun.YAML.parse(file) as { postgresql: Lists }
  const { postgresql } = printed
  return JSON.stringify({
    ...printed,
    postgresql: {
      ...postgresql,
      pg_hba: [...postgresql.pg_hba, 'host all postgres samenet scram-sha-256'],
      // A killed server leaves no shared memory.
      parameters: { ...postgresql.parameters, dynamic_shared_memory_type: 'mmap' },
      create_replica_methods: ['copy'],
      // A replica that was ahead of the synchronous standby when that was promoted is made anew.
      remove_data_directory_on_diverged_timelines: true,
      copy: { command: `${join(programs, 'bin', 'copy')} --password ${password}` },
    },
  })
}
