import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Random } from '../../fuzz/random.ts'
import { cutAgain } from './again.ts'
import { type Cut, chooseCuts, chooseHarshCuts } from './choose.ts'
import type { Lie } from './disk.ts'
import { type Judging, judge, judgeWorlds, type Service } from './judge.ts'
import { type Life, names } from './life.ts'
import { type Known, Moments } from './moments.ts'
import { openBackup, openState } from './opened.ts'
import { reasonOf } from './reasons.ts'

export type CutsOptions = {
  life: Life
  /** States to make and judge. */
  count: number
  seed: number
  /** Directory for the states, best in memory. */
  directory: string
  lie?: Lie
  /** Bring the service of a data directory up. */
  open: (dataDir: string, known: Known) => Promise<Service>
  /** The share of states whose backup is restored and judged, too. */
  backups: number
  /** Cut right behind answers, and leave nothing that was not synced. */
  harsh?: boolean
  /** The share of states on which the program starts and is cut again: the states of each, and its command. */
  again?: { share: number; states: number; command: readonly string[] }
  /** Copy of the first state with a problem. */
  keep?: string
}

export type CutsReport = {
  /** Judged states, by the program that was cut. */
  states: Record<string, number>
  backups: number
  /** States of a cut in the recovery from another one. */
  again: number
  /** States with a problem. */
  lost: number
  /** States that contradict an answer. */
  contradicted: number
  /** States by the reason of a problem. */
  reasons: Record<string, number>
  /** Vouchers that were spent after the cut. */
  claimed: number
  /** Signatures that had to be used up. */
  signatures: number
  problems: string[]
}

/** Cut the power of a recorded service at some moments, and judge the service that comes up on what the disk kept. */
export async function judgeCuts(options: CutsOptions): Promise<CutsReport> {
  const { life, directory, lie = 'none', keep } = options
  const report: CutsReport = {
    ...{ states: {}, backups: 0, again: 0, lost: 0, contradicted: 0 },
    ...{ reasons: {}, claimed: 0, signatures: 0, problems: [] },
  }
  const moments = new Moments(life, lie)
  const state = join(directory, 'state')
  for (const [number, cut] of cutsOf(options).entries()) {
    const write = (path: string) =>
      moments.cut(cut.at, path, new Random(options.seed + number * 7919), cut.harshness)
    const known = write(state)
    const random = new Random(options.seed + number * 15_485_863)
    const judging: Judging = { life, random, time: known.time, tally: report }
    const problems = [
      ...judgeMove(options, known),
      ...(await judgeBackup(options, known, { number, cut, judging, report })),
      ...(await judgeState(options, known, judging)),
    ]
    rmSync(state, { recursive: true })
    if (problems.length === 0 && lie === 'none') {
      problems.push(...(await judgeAgain(options, { number, known, judging, report, write })))
    }
    report.states[known.program] = (report.states[known.program] ?? 0) + 1
    if (problems.length === 0) continue
    const found = problems.map(reasonOf)
    for (const reason of new Set(found.map(({ reason }) => reason))) {
      report.reasons[reason] = (report.reasons[reason] ?? 0) + 1
    }
    if (found.some(({ contradicts }) => contradicts)) report.contradicted++
    if (report.lost++ === 0 && keep !== undefined) {
      rmSync(keep, { recursive: true, force: true })
      write(keep)
    }
    const where = `state ${number}, event ${cut.at} of ${life.recording.events.length}, ${known.program}`
    report.problems.push(...problems.slice(0, 5).map((problem) => `${where}: ${problem}`))
  }
  return report
}

function cutsOf({ life, count, seed, harsh = false }: CutsOptions): Cut[] {
  const random = new Random(seed)
  const { events } = life.recording
  if (!harsh) return chooseCuts(events, count, random)
  const lanes = [...life.lanes.before, ...life.lanes.after]
  const changing = lanes.flatMap(({ steps }) => steps.filter(({ kind }) => kind !== 'confirm'))
  const told = [...changing, ...life.sights].map(({ id }) => id)
  return chooseHarshCuts(events, new Set(told), { count, random })
}

type Again = {
  number: number
  known: Known
  judging: Judging
  report: CutsReport
  write: (path: string) => Known
}

/** Start the program on the same state once more, and cut its recovery. */
async function judgeAgain(
  { life, directory, seed, again }: CutsOptions,
  { number, known, judging, report, write }: Again,
): Promise<string[]> {
  const random = new Random(seed + number * 104_729)
  if (!again || !random.chance(again.share)) return []
  const state = join(directory, 'again')
  write(state)
  try {
    const { environment } = life.surroundings
    const cuts = await cutAgain(state, known, { ...again, environment, random, directory })
    const problems: string[] = []
    for (const { path, known: after } of cuts) {
      report.again++
      const found = await judged(
        () => openState(join(path, after.name)),
        // The program that was cut forgets used signatures whose time is over.
        (service) => judge({ ...service, spent: async () => null }, after, judging),
      )
      problems.push(...found.map((problem) => `cut again: ${problem}`))
      rmSync(path, { recursive: true })
    }
    return problems
  } catch (cause) {
    return [`cut again: ${cause instanceof Error ? cause.message : cause}`]
  } finally {
    rmSync(state, { recursive: true })
  }
}

async function judgeState(
  { directory, open }: CutsOptions,
  known: Known,
  judging: Judging,
): Promise<string[]> {
  return judged(
    () => open(join(directory, 'state', known.name), known),
    (service) => judge(service, known, judging),
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
  {
    number,
    cut,
    judging,
    report,
  }: { number: number; cut: Cut; judging: Judging; report: CutsReport },
): Promise<string[]> {
  const file = join(directory, 'state', names.backup)
  if (!existsSync(file)) return known.backupMayBeMissing ? [] : ['the backup is missing']
  if (!cut.named && !new Random(seed + number).chance(backups)) return []
  report.backups++
  const target = join(directory, 'restored')
  const found = await judged(
    () => openBackup(file, target, life),
    (service) => judgeWorlds(service, judging, known.backups, known.backups),
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
