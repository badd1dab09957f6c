import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Random } from '../../fuzz/random.ts'
import type { Lie } from './disk.ts'
import { judge, judgeWorlds, type Service } from './judge.ts'
import { type Life, names } from './life.ts'
import { type Known, Moments } from './moments.ts'
import { openBackup } from './opened.ts'
import type { Recorded } from './trace.ts'

export type CutsOptions = {
  life: Life
  /** States to make and judge. */
  count: number
  seed: number
  /** Directory for the states, best in memory. */
  directory: string
  lie?: Lie
  /** Bring the service of a data directory up. */
  open: (dataDir: string) => Promise<Service>
  /** The share of states whose backup is restored and judged, too. */
  backups: number
  /** Copy of the first state with a problem. */
  keep?: string
}

export type CutsReport = {
  /** Judged states, by the program that was cut. */
  states: Record<string, number>
  backups: number
  /** States with a problem. */
  lost: number
  problems: string[]
}

/** Cut the power of a recorded service at some moments, and judge the service that comes up on what the disk kept. */
export async function judgeCuts(options: CutsOptions): Promise<CutsReport> {
  const { life, count, seed, directory, lie = 'none', keep } = options
  const report: CutsReport = { states: {}, backups: 0, lost: 0, problems: [] }
  const moments = new Moments(life, lie)
  const state = join(directory, 'state')
  for (const [number, at] of momentsOf(life.recording.events, count, new Random(seed)).entries()) {
    const again = () => new Random(seed + number * 7919)
    const known = moments.cut(at, state, again())
    const problems = [
      ...judgeMove(options, known),
      ...(await judgeBackup(options, known, number, report)),
      ...(await judgeState(options, known)),
    ]
    rmSync(state, { recursive: true })
    report.states[known.program] = (report.states[known.program] ?? 0) + 1
    if (problems.length === 0) continue
    if (report.lost++ === 0 && keep !== undefined) {
      rmSync(keep, { recursive: true, force: true })
      moments.cut(at, keep, again())
    }
    const where = `state ${number}, event ${at} of ${life.recording.events.length}, ${known.program}`
    report.problems.push(...problems.slice(0, 5).map((problem) => `${where}: ${problem}`))
  }
  return report
}

async function judgeState({ life, directory, open }: CutsOptions, known: Known): Promise<string[]> {
  return judged(
    () => open(join(directory, 'state', known.name)),
    (service) => judge(service, known, life),
  )
}

function judgeMove({ life, directory }: CutsOptions, { moved }: Known): string[] {
  if (!moved) return []
  const file = join(directory, 'state', names.move)
  if (!existsSync(file)) return ['the file of the move is missing']
  return readFileSync(file).equals(life.moved ?? Buffer.alloc(0))
    ? []
    : ['the file of the move is damaged']
}

/** Restore the backup that the cut left, and compare it with what it may hold. */
async function judgeBackup(
  { life, directory, seed, backups }: CutsOptions,
  known: Known,
  number: number,
  report: CutsReport,
): Promise<string[]> {
  const file = join(directory, 'state', names.backup)
  if (!existsSync(file)) return known.backupMayBeMissing ? [] : ['the backup is missing']
  if (!new Random(seed + number).chance(backups)) return []
  report.backups++
  const target = join(directory, 'restored')
  const found = await judged(
    () => openBackup(file, target, life),
    (service) => judgeWorlds(service, known.backups, known.backups),
  )
  rmSync(target, { recursive: true, force: true })
  return found.map((problem) => `the backup: ${problem}`)
}

async function judged(
  open: () => Promise<Service>,
  look: (service: Service) => Promise<string[]>,
): Promise<string[]> {
  let service: Service
  try {
    service = await open()
  } catch (cause) {
    return [`it does not come up: ${cause instanceof Error ? cause.message : cause}`]
  }
  try {
    return await look(service)
  } catch (cause) {
    return [`it fails: ${cause instanceof Error ? (cause.stack ?? cause.message) : cause}`]
  } finally {
    await service.close()
  }
}

/** Moments of a recording in their order: in the first start, right behind answers, around syncs and names, anywhere. */
function momentsOf(events: readonly Recorded[], count: number, random: Random): number[] {
  const at = (...kinds: Recorded['kind'][]) =>
    events.flatMap(({ kind }, index) => (kinds.includes(kind) ? [index] : []))
  const [answers, syncs, entries] = [at('left'), at('sync'), at('entry', 'rename')]
  const moment = () => {
    const roll = random.next()
    if (roll < 0.1) return random.below((answers[0] ?? 0) + 1)
    if (roll < 0.4) return random.pick(answers) + 1
    if (roll < 0.6) return random.pick(syncs) + random.below(2)
    if (roll < 0.75) return Math.min(random.pick(entries) + random.below(4), events.length)
    return random.below(events.length + 1)
  }
  return Array.from({ length: count }, moment).sort((one, other) => one - other)
}
