/**
 * How fast the product is, as shares of ceilings measured in the same run, and how much memory it takes:
 *   npm run bench -- [--json] [--seconds 2] [--rounds 3] [--connections 1,16,64] [--only claim,refresh]
 *                    [--binary dist/cuponera] [--starts 7] [--events 1000000] [--vouchers 1000000]
 * `--only` also names what is measured of the relay: ingest, query, claims, publish, subscribers;
 * `--events` is how many its file holds for the queries. With `--vouchers` it compares a file of that many vouchers with one of a thousand instead.
 * `--against URL` measures a running server of the same interface in turns with this one; `--against FILE` starts
 * another build of the program (or its `main.ts`) for that. `--disk-delay 30` makes every sync of the server's
 * files take 30 ms longer (it needs strace), and measures previews beside minters; with `--against FILE` also before.
 * With `--postgres` it compares one node and two on a server of PostgreSQL, without a synchronous standby and with one, with bare
 * commits of that server; `--delay 0.5` is what the wire adds to a round trip, in milliseconds.
 * Figures are figures: the exit code is 0 whenever they could be measured.
 */
import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { cleanUp } from '../support/server.ts'
import { compareCeilings } from './against-ceiling.ts'
import { comparePeer, type Peer } from './against-peer.ts'
import { compareFiles } from './against-size.ts'
import { describeMachine } from './machine.ts'
import { compareNodes } from './postgres/compare.ts'
import { endProcesses } from './processes.ts'
import { compareRelay, relayKinds } from './relay.ts'
import { type Report, tell } from './report.ts'
import { compareSlowDisk } from './slow-disk.ts'

const project = resolve(import.meta.dir, '../..')

/** The plan of a run of the bench. */
export type Plan = {
  seconds: number
  rounds: number
  connections: number[]
  /** Kinds of request whose name contains one of these; empty: all. */
  only: string[]
  starts: number
  /** The program to measure, and another way to start it if there is one. */
  command: string[]
  binary: string | null
  /** A directory of this run, on the disk that the project is on. */
  directory: string
  /** Where made files are kept from run to run. */
  kept: string
  say: (line: string) => void
}

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    seconds: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '1,16,64' },
    only: { type: 'string', default: '' },
    starts: { type: 'string', default: '7' },
    binary: { type: 'string' },
    events: { type: 'string', default: '1000000' },
    vouchers: { type: 'string' },
    postgres: { type: 'boolean', default: false },
    delay: { type: 'string', default: '0.5' },
    against: { type: 'string' },
    'disk-delay': { type: 'string' },
  },
})

const kept = join(project, 'test-output', 'bench')
const directory = join(kept, `run-${process.pid}`)
const built = resolve(project, values.binary ?? 'dist/cuponera')
if (values.binary !== undefined && !existsSync(built)) {
  console.error(`bench: ${values.binary} does not exist: npm run build`)
  process.exit(2)
}
const source = [process.execPath, join(project, 'src/main.ts')]

const plan: Plan = {
  seconds: Number(values.seconds),
  rounds: Number(values.rounds),
  connections: values.connections.split(',').map(Number),
  only: values.only.split(',').filter((part) => part !== ''),
  starts: Number(values.starts),
  command: values.binary === undefined ? source : [built],
  binary: existsSync(built) ? built : null,
  directory,
  kept,
  say: (line) => console.error(line),
}

mkdirSync(directory, { recursive: true })
try {
  const machine = describeMachine(directory)
  const measured = await compare()
  const report: Report = { program: values.binary ?? 'source', machine, ...measured }
  console.log(values.json ? JSON.stringify(report, null, 2) : tell(report))
} finally {
  await endProcesses()
  await cleanUp()
  rmSync(directory, { recursive: true, force: true })
}
process.exit(0)

function compare(): Promise<Omit<Report, 'program' | 'machine'>> {
  const { vouchers, against, 'disk-delay': diskDelay } = values
  const peer = against === undefined ? null : peerOf(against)
  if (values.postgres) return compareNodes(plan, Number(values.delay))
  if (diskDelay !== undefined) {
    const before = peer && 'command' in peer ? peer.command : null
    return compareSlowDisk(plan, Number(diskDelay), before)
  }
  if (peer) return comparePeer(plan, peer)
  return vouchers === undefined ? compareAll(plan) : compareFiles(plan, Number(vouchers))
}

function peerOf(against: string): Peer {
  if (/^https?:\/\//.test(against)) return { url: new URL(against).origin }
  const file = resolve(project, against)
  if (!existsSync(file)) throw new Error(`${against} is neither an address nor a file`)
  return { command: file.endsWith('.ts') ? [process.execPath, file] : [file] }
}

/** The coupon service against its ceilings, then the relay; `--only` may leave one of them out. */
async function compareAll(whole: Plan): Promise<Omit<Report, 'program' | 'machine'>> {
  const ofRelay = whole.only.filter((name) => relayKinds.includes(name))
  const ofCoupons = whole.only.filter((name) => !relayKinds.includes(name))
  const all = whole.only.length === 0
  const coupons = all || ofCoupons.length > 0 ? [await compareCeilings(whole)] : []
  const events = Number(values.events)
  const relay =
    all || ofRelay.length > 0 ? [await compareRelay({ ...whole, only: ofRelay, events })] : []
  const parts = [...coupons, ...relay]
  return {
    engine: coupons[0]?.engine ?? 'see the start block',
    tables: parts.flatMap(({ tables }) => tables),
    targets: parts.flatMap(({ targets }) => targets),
  }
}
