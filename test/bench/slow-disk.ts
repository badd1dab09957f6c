import { join } from 'node:path'
import { createDefinition, newSigner, openSession } from '../support/client.ts'
import { startServer } from '../support/server.ts'
import { withSlowSyncs } from '../support/slow-syncs.ts'
import { benchDefinition, benchEnvironment, benchKeys } from './fixture.ts'
import { get, post } from './kinds.ts'
import type { LoadJob, LoadResult } from './load.ts'
import { median } from './machine.ts'
import type { Plan } from './main.ts'
import { rowOrNull, startLoader } from './processes.ts'
import { type Cell, judge, type Report } from './report.ts'
import { engineIn } from './same-engine.ts'

const warmSeconds = 0.5
const minters = 4
const mintConnections = 16
const aloneShareMin = 0.8
const mintTimesMin = 1.5
/** Vouchers that previews ask for. */
const known = 500

type Side = Awaited<ReturnType<typeof open>>
/** Previews alone and beside minters, for each number of connections, and mints. */
type Round = { previews: { alone: LoadResult; beside: LoadResult }[]; mints: LoadResult }

/**
 * The program on a disk whose syncs take `delayMs`: previews alone and beside minters, and mints. With `before`, the
 * command of another build, both run in turns.
 */
export async function compareSlowDisk(
  plan: Plan,
  delayMs: number,
  before: string[] | null,
): Promise<Pick<Report, 'engine' | 'tables' | 'targets'>> {
  if (Bun.which('strace') === null) throw new Error('--disk-delay needs strace')
  const commands = before === null ? [plan.command] : [before, plan.command]
  const sides = await Promise.all(
    commands.map((command, at) => open(plan, String(at), withSlowSyncs(command, delayMs))),
  )
  const rounds: Round[][] = sides.map(() => [])
  const loaders = { previews: startLoader(), mints: startLoader() }
  for (let round = 0; round < plan.rounds; round++) {
    for (const [at, side] of sides.entries()) {
      plan.say(`round ${round + 1}, ${at === sides.length - 1 ? 'program' : 'before'} …`)
      const measured = await rowOrNull('round', plan.say, () => measure(plan, side, loaders))
      if (measured) rounds[at]?.push(measured)
    }
  }
  const engine = engineIn(sides[0]?.server.output() ?? '')
  await Promise.all(sides.map(({ server }) => server.stop()))
  const now = rounds.at(-1) ?? []
  const earlier = before === null ? [] : (rounds[0] ?? [])
  return {
    engine,
    tables: [tableOf(plan, delayMs, now, earlier)],
    targets: targetsOf(plan, now, earlier),
  }
}

async function open(plan: Plan, name: string, command: string[]) {
  const dataDir = join(plan.directory, `slow-${name}`)
  const server = await startServer({ dataDir, env: benchEnvironment, command })
  const token = await openSession(server.url, newSigner(Uint8Array.fromHex(benchKeys.merchant)))
  return { server, token, couponId: await createDefinition(server.url, token, benchDefinition) }
}

async function measure(
  plan: Plan,
  { server, token, couponId }: Side,
  loaders: Record<'previews' | 'mints', ReturnType<typeof startLoader>>,
): Promise<Round> {
  const { url, pid } = server
  const common = { url, pid, warmSeconds, seconds: plan.seconds, again: true, status: 200 } as const
  const preview: Omit<LoadJob, 'connections'> = {
    ...common,
    request: get('/api/coupons/claim?nonce=$VALUE'),
    values: { from: 'minted', count: known, token, couponId },
  }
  const mint: Omit<LoadJob, 'connections'> = {
    ...common,
    request: post('/api/coupons/mint', { couponId }, `Authorization: Bearer ${token}\r\n`),
    values: { from: 'none' },
  }
  const previews: Round['previews'] = []
  for (const connections of plan.connections) {
    const alone = await loaders.previews.run({ ...preview, connections })
    const [beside] = await Promise.all([
      loaders.previews.run({ ...preview, connections }),
      // They begin before the previews and end after them.
      loaders.mints.run({
        ...mint,
        connections: minters,
        warmSeconds: 0,
        seconds: plan.seconds + 3 * warmSeconds,
      }),
    ])
    previews.push({ alone, beside })
  }
  return { previews, mints: await loaders.mints.run({ ...mint, connections: mintConnections }) }
}

type Figure = (round: Round) => number

function of(rounds: readonly Round[], figure: Figure): number {
  return median(rounds.map(figure))
}

/** Figures of the scenarios, each with its latency. */
function scenarios({ connections }: Plan) {
  const previews = connections.flatMap((count, at) =>
    (['alone', 'beside'] as const).map((which) => ({
      name: `preview, ${count} conn., ${which === 'alone' ? 'alone' : `beside ${minters} minters`}`,
      of: (round: Round) => round.previews[at]?.[which],
    })),
  )
  return [...previews, { name: `mint, ${mintConnections} conn.`, of: ({ mints }: Round) => mints }]
}

function tableOf(plan: Plan, delayMs: number, now: Round[], before: Round[]): Report['tables'][0] {
  return {
    title: `A disk whose syncs take ${delayMs} ms longer`,
    about: [
      'strace delays fsync and fdatasync of the server; "before" is the program of --against, in turns',
      'times: median of the rounds, per s of the program / per s before',
    ],
    columns: ['scenario', '', 'per s', 'p50 ms', 'p99 ms', 'before per s', 'p99 ms', 'times'],
    rows: scenarios(plan).map(({ name, of: at }): Cell[] => {
      const figure = (which: keyof LoadResult) => (round: Round) => at(round)?.[which] ?? Number.NaN
      const perSecond = figure('perSecond')
      return [
        name,
        '',
        of(now, perSecond),
        of(now, figure('p50Ms')),
        of(now, figure('p99Ms')),
        of(before, perSecond),
        of(before, figure('p99Ms')),
        times(now, before, perSecond),
      ]
    }),
  }
}

/** Median of the rounds' ratios: rounds of one number ran close in time. */
function times(now: readonly Round[], before: readonly Round[], figure: Figure): number {
  const pairs = now.flatMap((round, at) => {
    const earlier = before[at]
    return earlier ? [figure(round) / figure(earlier)] : []
  })
  return median(pairs)
}

function targetsOf(plan: Plan, now: Round[], before: Round[]): Report['targets'] {
  const shares = plan.connections.map((connections, at) => {
    const share = (round: Round) => {
      const { alone, beside } = round.previews[at] ?? {}
      return alone && beside ? beside.perSecond / alone.perSecond : Number.NaN
    }
    return judge({
      name: `preview beside ${minters} minters, ${connections} conn.: share of alone`,
      measured: of(now, share) * 100,
      limit: aloneShareMin * 100,
      unit: '%',
      least: true,
    })
  })
  if (before.length === 0) return shares
  const mints = judge({
    name: `mint, ${mintConnections} conn., against before`,
    measured: times(now, before, (round) => round.mints.perSecond),
    limit: mintTimesMin,
    unit: '×',
    least: true,
  })
  return [...shares, mints]
}
