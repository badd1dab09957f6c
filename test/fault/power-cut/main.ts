/**
 * Records the built program under load, and starts it on states of the disk that a power cut may leave:
 * `npm run power-cut -- 10000 --seed 1`. The first number is that of the states; one of twenty is judged on the program
 * itself, the others are opened in this process. It builds the program first, and needs strace.
 */
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { chooseSeed, Random } from '../../fuzz/random.ts'
import { cleanUp } from '../../support/server.ts'
import { whyNotTraceable } from '../trace-sync.ts'
import type { CutsReport } from './cuts.ts'
import { recordLife, recordMove } from './life.ts'
import { judgeLife, type RoundReport, weakProgram } from './rounds.ts'

/** States of one recording. More recordings differ more than more states of one. */
const statesPerLife = 1000
/** The share of states whose recovery is cut again, and at how many moments. */
const again = { share: 0.01, states: 10 }
const root = join(import.meta.dir, '../../..')

const reason = await whyNotTraceable()
if (reason !== null) {
  console.log(reason)
  process.exit(2)
}
const { values, positionals } = parseArgs({
  options: { seed: { type: 'string' } },
  allowPositionals: true,
})
const count = Number(positionals[0] ?? 1000)
const seed = values.seed === undefined ? chooseSeed() : Number(values.seed)
const built = Bun.spawnSync([process.execPath, join(root, '.tools/build.ts')])
if (!built.success) throw new Error(built.stderr.toString())
const command = [join(root, 'dist/cuponera')]
const keep = join(tmpdir(), `cuponera-power-cut-${seed}`)
const began = performance.now()
const random = new Random(seed)
console.log(`${count} states, seed ${seed}`)

const reports: RoundReport[] = []
for (let done = 0; done < count; done += statesPerLife) {
  const states = Math.min(statesPerLife, count - done)
  const [started, moved] = [Math.ceil(states / 20), Math.ceil(states / 6)]
  const life = () => ({ seed: random.below(2 ** 31), command, steps: 60, lanes: 4 })
  const opened = states - started - moved
  const lied = Math.ceil(states / 25)
  reports.push(await judgeLife(recordLife, life(), { opened, started, lied, keep, again }))
  reports.push(
    await judgeLife(recordMove, life(), { opened: moved, started: 0, lied: 0, keep, again }),
  )
  const parts = reports.slice(-2).flatMap((report) => [report.opened, report.started])
  for (const problem of parts.flatMap(({ problems }) => problems)) console.log(problem)
  show(`after ${done + states}`, parts)
}
const [normal, normalHarsh] = await judgeWeak(Math.ceil(count / 100))
await cleanUp()

const judged = [
  show(
    'opened in one process',
    reports.map(({ opened }) => opened),
  ),
  show(
    'started by the program',
    reports.map(({ started }) => started),
  ),
]
const controls = [
  show(
    'control: all syncs ignored',
    reports.flatMap(({ lied }) => lied['all syncs'] ?? []),
  ),
  show(
    'control: syncs of files ignored',
    reports.flatMap(({ lied }) => lied['syncs of files'] ?? []),
  ),
  show(
    'control: syncs of directories ignored',
    reports.flatMap(({ lied }) => lied['syncs of directories'] ?? []),
  ),
  show('control: synchronous = NORMAL', [normal]),
  show('control: synchronous = NORMAL, behind answers, only what was synced', [normalHarsh]),
]
const answers = reports
  .flatMap(({ recording }) => recording.events)
  .filter(({ kind }) => kind === 'left').length
const seconds = Math.round((performance.now() - began) / 1000)
console.log(`${answers} answers in ${reports.length} recordings, ${seconds} s, seed ${seed}`)
const lost = judged.some((number) => number > 0)
if (lost) console.log(`the first state with a problem is kept as ${keep}`)
const blind = controls.some((number) => number === 0)
if (blind) console.log('a control lost nothing: the check sees too little')
process.exit(lost || blind ? 1 : 0)

/** The control whose program syncs its journal only when it folds it: states as of the others, and the worst behind answers. */
async function judgeWeak(states: number): Promise<[CutsReport, CutsReport]> {
  using weak = weakProgram()
  const life = { seed: random.below(2 ** 31), command: weak.command, steps: 60, lanes: 4 }
  const round = { opened: states, started: 0, lied: 0 }
  const { opened } = await judgeLife(recordLife, life, round)
  const harsh = await judgeLife(recordLife, life, { ...round, harsh: true })
  return [opened, harsh.opened]
}

/** Print the sums of some reports. The number of states with a problem. */
function show(name: string, parts: readonly CutsReport[]): number {
  const programs = new Map<string, number>()
  let [backups, twice, lost] = [0, 0, 0]
  for (const part of parts) {
    for (const [program, states] of Object.entries(part.states)) {
      programs.set(program, (programs.get(program) ?? 0) + states)
    }
    backups += part.backups
    twice += part.again
    lost += part.lost
  }
  const all = [...programs.values()].reduce((sum, states) => sum + states, 0)
  const where = [...programs].map(([program, states]) => `${program} ${states}`).join(', ')
  console.log(
    `${name}: ${all} states (${where}), ${backups} backups restored, ${twice} recoveries cut again, ${lost} lost`,
  )
  return lost
}
