/**
 * Records the built program under load, and starts it on states of the disk that a power cut may leave. It folds its log often (short-log.ts):
 * `npm run power-cut -- 10000 --seed 1`. The first number is that of the states; one of twenty is judged on the program
 * itself, the others are opened in a process of the test. It builds the program first, and needs strace. `--at-once 2`: the
 * number of recordings that are made and judged at the same time, each in a process of its own.
 */
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { chooseSeed, Random } from '../../fuzz/random.ts'
import { cleanUp } from '../../support/server.ts'
import { whyNotTraceable } from '../trace-sync.ts'
import type { CutsReport } from './cuts.ts'
import {
  judgeRound,
  type RoundReport,
  type Task,
  type Weakness,
  weaknesses,
  weakProgram,
} from './rounds.ts'

/** States of one recording. More recordings differ more than more states of one. */
const statesPerLife = 1000
/** The syncs of every second recording take so much longer, so that those of commits run in another thread. */
const slowSyncMs = 2
/** The least number of states of a weak program: of six cuts after failed syncs none may show it. */
const controlStates = 50
/** States of a life whose disk ignored syncs, at least: of eight none met a directory without one. */
const liedStates = 40
/** Logs of one recording at least: each of its processes begins two, and each fold under load one more. */
const logsMin = 12
/** The share of states whose recovery is cut again, and at how many moments. */
const again = { share: 0.01, states: 10 }
const root = join(import.meta.dir, '../../..')

const { values, positionals } = parseArgs({
  options: {
    seed: { type: 'string' },
    'at-once': { type: 'string', default: String(availableParallelism()) },
    task: { type: 'string' },
  },
  allowPositionals: true,
})
if (values.task !== undefined) {
  console.log(JSON.stringify(await judgeRound(JSON.parse(values.task))))
  await cleanUp()
  process.exit(0)
}
const reason = await whyNotTraceable()
if (reason !== null) {
  console.log(reason)
  process.exit(2)
}
const count = Number(positionals[0] ?? 1000)
const seed = values.seed === undefined ? chooseSeed() : Number(values.seed)
const built = Bun.spawnSync([process.execPath, join(root, '.tools/build.ts'), '--tests'])
if (!built.success) throw new Error(built.stderr.toString())
const random = new Random(seed)
const began = performance.now()
console.log(`${count} states, seed ${seed}`)
process.exit(await judgeAll())

async function judgeAll(): Promise<number> {
  using weak = new DisposableStack()
  const tasks = tasksOf([join(root, 'dist/tests'), 'short-log'])
  const controls = weaknesses.flatMap((name) => controlsOf(name, weak.use(weakProgram(name))))
  const waiting = [...tasks, ...controls].entries()
  const reports: RoundReport[] = []
  let done = 0
  const work = async () => {
    for (const [at, task] of waiting) {
      const report = await inProcess(task)
      reports[at] = report
      for (const problem of problemsOf(task, report)) console.log(problem)
      done += task.round.opened + task.round.started
      const seconds = Math.round((performance.now() - began) / 1000)
      show(`${task.record} ${at}, ${done} after ${seconds} s`, [report.opened, report.started])
    }
  }
  await Promise.all(Array.from({ length: Number(values['at-once']) }, work))
  return verdict(
    reports.slice(0, tasks.length),
    controls.map((task, at) => [task, reports[tasks.length + at]]),
  )
}

/** The lives of the program as it is. */
function tasksOf(command: string[]): Task[] {
  return Array.from({ length: Math.ceil(count / statesPerLife) }, (_, at) => {
    const states = Math.min(statesPerLife, count - at * statesPerLife)
    const [started, aside] = [Math.ceil(states / 20), Math.ceil(states / 6)]
    const judgedAside = {
      started: Math.ceil(aside / 20),
      opened: aside - Math.ceil(aside / 20),
      lied: 0,
    }
    return [
      {
        started,
        opened: states - started - 2 * aside,
        lied: Math.max(liedStates, Math.ceil(states / 25)),
      },
      judgedAside,
      judgedAside,
    ].map((round, kind): Task => {
      const keep = join(tmpdir(), `cuponera-power-cut-${seed}-${at}-${kind}`)
      const record = (['life', 'move', 'failing'] as const)[kind] ?? 'life'
      const syncMs = (at + kind) % 2 === 0 ? slowSyncMs : 0
      return { record, life: lifeOf(command, syncMs), round: { ...round, keep, again } }
    })
  }).flat()
}

/** The controls whose program has a weakness: states as of the others, and the worst behind answers. */
function controlsOf(
  name: Weakness,
  { command, syncMs, record }: ReturnType<typeof weakProgram>,
): Task[] {
  const states = Math.max(controlStates, Math.ceil(count / 100))
  const round = { opened: states, started: 0, lied: 0 }
  const harsh = { ...round, harsh: true }
  // A read is shown a commit some moments before its sync, so that few other cuts meet it.
  const rounds = name === 'reads before the sync of a slow disk' ? [harsh] : [round, harsh]
  return rounds.map((one): Task => {
    return { record, life: lifeOf(command, syncMs), round: one, control: name }
  })
}

function lifeOf(command: string[], syncMs: number) {
  return { seed: random.below(2 ** 31), command, steps: 60, lanes: 4, syncMs }
}

/** Judge a recording in a process of its own. */
async function inProcess(task: Task): Promise<RoundReport> {
  const child = Bun.spawn([process.execPath, import.meta.path, '--task', JSON.stringify(task)], {
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const output = await new Response(child.stdout).text()
  if ((await child.exited) !== 0) throw new Error(`a recording was not judged: ${output}`)
  return JSON.parse(output.trimEnd().split('\n').at(-1) ?? '')
}

function problemsOf({ control }: Task, { opened, started }: RoundReport): string[] {
  return control ? [] : [...opened.problems, ...started.problems]
}

/** Print all sums. The exit code. */
function verdict(
  sound: readonly RoundReport[],
  weak: readonly [Task, RoundReport | undefined][],
): number {
  const parts = (name: 'opened' | 'started') => sound.map((report) => report[name])
  const judged = [
    show('opened in a process of the test', parts('opened')),
    show('started by the program', parts('started')),
  ]
  const lied = (lie: keyof RoundReport['lied']) => sound.flatMap((report) => report.lied[lie] ?? [])
  const controls = [
    show('control: all syncs ignored', lied('all syncs')),
    show('control: syncs of files ignored', lied('syncs of files')),
    show('control: syncs of directories ignored', lied('syncs of directories')),
    ...weak.map(([{ control, round }, report]) =>
      show(
        `control: ${control}${round.harsh ? ', behind answers, only what was synced' : ''}`,
        report ? [report.opened] : [],
      ),
    ),
  ]
  const answers = sound.reduce((sum, report) => sum + report.answers, 0)
  const seconds = Math.round((performance.now() - began) / 1000)
  console.log(`${answers} answers in ${sound.length} recordings, ${seconds} s, seed ${seed}`)
  const lost = judged.some(({ lost }) => lost > 0)
  if (lost) {
    console.log(
      `states with a problem are kept as ${join(tmpdir(), `cuponera-power-cut-${seed}`)}-*`,
    )
  }
  const blind = controls.some(({ contradicted }) => contradicted === 0)
  if (blind) console.log('a control contradicted no answer: the check sees too little')
  const logs = sound.map((report) => report.logs)
  const unfolded = logs.filter((begun) => begun < logsMin).length
  console.log(`logs that began in each recording: ${logs.join(', ')}`)
  if (unfolded > 0) console.log('recordings with too few folds of the log')
  return lost || blind || unfolded > 0 ? 1 : 0
}

/** Print the sums of some reports. The number of states with a problem, and of those that contradict an answer. */
function show(name: string, parts: readonly CutsReport[]) {
  const sum = { backups: 0, again: 0, lost: 0, contradicted: 0, claimed: 0, signatures: 0 }
  const maps = { states: new Map<string, number>(), reasons: new Map<string, number>() }
  for (const part of parts) {
    for (const key of Object.keys(sum) as (keyof typeof sum)[]) sum[key] += part[key]
    for (const map of ['states', 'reasons'] as const) {
      for (const [one, number] of Object.entries(part[map])) {
        maps[map].set(one, (maps[map].get(one) ?? 0) + number)
      }
    }
  }
  const all = [...maps.states.values()].reduce((total, states) => total + states, 0)
  const list = (map: Map<string, number>) =>
    [...map].map(([one, number]) => `${one} ${number}`).join(', ')
  const { backups, again, claimed, signatures, lost, contradicted } = sum
  console.log(
    `${name}: ${all} states (${list(maps.states)}), ${claimed} vouchers spent, ${signatures} signatures looked up, ${backups} backups restored, ${again} recoveries cut again, ${lost} lost, ${contradicted} contradict an answer`,
  )
  if (maps.reasons.size > 0) console.log(`  by reason: ${list(maps.reasons)}`)
  return sum
}
