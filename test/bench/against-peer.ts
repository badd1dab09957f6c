import { join } from 'node:path'
import { createDefinition, newSigner, openSession } from '../support/client.ts'
import { cpuSeconds } from '../support/process-figures.ts'
import { startServer } from '../support/server.ts'
import { benchDefinition, benchEnvironment, benchKeys } from './fixture.ts'
import { gatewayKinds, type Kind, kinds } from './kinds.ts'
import type { LoadResult, Values } from './load.ts'
import { median } from './machine.ts'
import type { Plan } from './main.ts'
import { rowOrNull, startLoader } from './processes.ts'
import { type Cell, quotients, type Report } from './report.ts'
import { engineIn } from './same-engine.ts'

const warmSeconds = 0.5
/** The expected rate of the first run; later runs use measured ones. */
const perSecondGuess = 1000
/** A server rests that takes less of a processor in a look; the wait for it has an end. */
const rest = { lookMs: 300, share: 0.1, looksMax: 200 }

type PeerKind = Pick<Kind, 'name' | 'job'>
type Side = Awaited<ReturnType<typeof open>>
type Round = { program: LoadResult; peer: LoadResult }

/** A server to compare with: one that runs, or the command that starts it. */
export type Peer = { url: string } | { command: string[] }

/**
 * The program and a peer in turns, with the same requests: any server of this HTTP interface, at which every key may
 * issue coupons. A kind that the peer refuses has no figures. Without the cards, whose taps are written into the file.
 */
export async function comparePeer(
  plan: Plan,
  peer: Peer,
): Promise<Pick<Report, 'engine' | 'tables' | 'targets'>> {
  const sides = {
    program: await open(plan, 'program', { command: plan.command }),
    peer: await open(plan, 'peer', peer),
  }
  const loader = startLoader()
  const rows: Cell[][] = []
  const withoutCards = kinds.filter(({ card }) => card !== true)
  const wanted = [...withoutCards, ...gatewayKinds].filter(
    ({ name }) => plan.only.length === 0 || plan.only.some((part) => name.includes(part)),
  )
  for (const kind of wanted) {
    for (const connections of plan.connections) {
      plan.say(`${kind.name}, ${connections} connection(s) …`)
      const rounds: Round[] = []
      const guesses = { program: perSecondGuess, peer: perSecondGuess }
      const run = async (name: keyof typeof sides) => {
        const result = await load(plan, loader, { kind, connections }, sides[name], guesses[name])
        await untilAtRest(sides[name].pid)
        guesses[name] = result.perSecond
        return result
      }
      await rowOrNull(kind.name, plan.say, async () => {
        while (rounds.length < plan.rounds) {
          // The order changes, so that neither always comes after the other.
          const first = rounds.length % 2 === 0 ? await run('peer') : null
          const program = await run('program')
          rounds.push({ program, peer: first ?? (await run('peer')) })
        }
      })
      rows.push(rowOf(kind, connections, rounds))
    }
  }
  const { server } = sides.program
  const engine = engineIn(server?.output() ?? '')
  return { engine, tables: [tableOf(rows, sides.peer.url)], targets: [] }
}

async function open(plan: Plan, name: string, peer: Peer) {
  const server =
    'url' in peer
      ? null
      : await startServer({
          dataDir: join(plan.directory, name),
          env: benchEnvironment,
          command: peer.command,
        })
  const url = server?.url ?? ('url' in peer ? peer.url : '')
  const token = await openSession(url, newSigner(Uint8Array.fromHex(benchKeys.merchant)))
  const couponId = await createDefinition(url, token, benchDefinition)
  return { server, url, pid: server?.pid ?? null, token, couponId }
}

/** Deliveries of published events go on behind the answers, and would slow down the other side. */
async function untilAtRest(pid: number | null): Promise<void> {
  if (pid === null) return
  for (let looks = 0; looks < rest.looksMax; looks++) {
    const before = cpuSeconds(pid)
    await Bun.sleep(rest.lookMs)
    if (cpuSeconds(pid) - before < (rest.share * rest.lookMs) / 1000) return
  }
}

function load(
  plan: Plan,
  loader: ReturnType<typeof startLoader>,
  { kind, connections }: { kind: PeerKind; connections: number },
  { url, pid, token, couponId }: Side,
  perSecond: number,
): Promise<LoadResult> {
  const minted = (count: number): Values => ({ from: 'minted', count, token, couponId })
  const aim = {
    token,
    couponId,
    open: minted,
    known: () => minted(500),
    taps: minted,
    touches: minted,
  }
  const time = { warmSeconds, seconds: plan.seconds, connections }
  // The interface does not fix which success a mint or a refresh is.
  const jobOf = (count: number) => ({
    ...time,
    url,
    pid,
    ...kind.job(aim, count),
    status: 'success' as const,
  })
  return loader.runFull(jobOf, Math.ceil(perSecond * 1.1 * (warmSeconds + plan.seconds)))
}

function rowOf(kind: PeerKind, connections: number, rounds: readonly Round[]): Cell[] {
  const of = (side: keyof Round, name: keyof LoadResult) =>
    median(rounds.map((round) => round[side][name]))
  const times = rounds.map(({ program, peer }) => program.perSecond / peer.perSecond)
  return [
    kind.name,
    String(connections),
    of('program', 'perSecond'),
    of('program', 'p99Ms'),
    of('peer', 'perSecond'),
    of('peer', 'p99Ms'),
    ...quotients(times),
  ]
}

function tableOf(rows: Cell[][], url: string): Report['tables'][0] {
  return {
    title: `The program against ${url}`,
    about: [
      'in turns; times: median of program / peer, in brackets the least and the most; 95 %: bounds of the median',
      'any answer from 200 to 299 counts; n/a: the peer has no such route, or answers otherwise',
    ],
    columns: ['kind', 'conn.', 'per s', 'p99 ms', 'peer per s', 'peer p99 ms', 'times', '95 %'],
    rows,
  }
}
