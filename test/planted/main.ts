/**
 * `npm run planted [-- --only PATTERN] [--processes 2]`: each deliberate fault of test/planted in a scratch copy of the
 * source, and the suites that must notice it. Each suite first runs once without a fault and must pass, or the run is
 * invalid. The table at the end tells which test of which harness caught each fault, and why it failed. `--only`
 * takes faults whose names match.
 */
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Kind, type PlantedFault, suitesByKind } from './fault.ts'
import { faults, plant } from './faults.ts'
import { runSuite, type Verdict } from './suite.ts'

const project = join(import.meta.dir, '../..')
const copied = [
  'src',
  'test',
  '.tools',
  'docs',
  'package.json',
  'schema.sql',
  'tsconfig.json',
].concat('bunfig.toml', 'package-lock.json', 'README.md', 'LICENSE')
/** Percent of the faults that must be caught. */
const shareMin = 95

/** The outcome of a fault at the harness of a kind. `invalid`: a suite of it does not even pass without a fault. */
type Row = {
  name: string
  kind: Kind
  outcome: 'caught' | 'MISSED' | 'INVALID'
  /** The suite and its test. */
  by: string
  reason: string
}

/** A row of the table. `seconds`: all suites that the fault was shown to, and their first runs without a fault. */
type TimedRow = Row & { seconds: number }

/** Runs without a fault, by suite, shared by all copies. */
const unplanted = new Map<string, Promise<Verdict>>()

function withoutFault(copy: string, suite: string): Promise<Verdict> {
  const known = unplanted.get(suite) ?? runSuite(copy, suite)
  unplanted.set(suite, known)
  return known
}

/** Plant a fault in a copy, and let the suites of each kind judge it. */
async function judge(fault: PlantedFault, copy: string): Promise<Row[]> {
  const { name } = fault
  const rows: Row[] = []
  for (const suite of fault.suites) {
    const verdict = await withoutFault(copy, suite)
    if (verdict.kind === 'passed') continue
    const reason = verdict.kind === 'caught' ? `${verdict.test}: ${verdict.reason}` : verdict.reason
    return [{ name, kind: 'feature', outcome: 'INVALID', by: suite, reason }]
  }
  const planted = plant(fault, (file) => readFileSync(join(project, file), 'utf8'))
  for (const [file, text] of planted) writeFileSync(join(copy, file), text)
  try {
    for (const [kind, suites] of suitesByKind(fault)) {
      rows.push({ name, kind, ...(await firstToCatch(copy, suites)) })
    }
  } finally {
    for (const file of planted.keys()) cpSync(join(project, file), join(copy, file))
  }
  return rows
}

async function firstToCatch(
  copy: string,
  suites: readonly string[],
): Promise<Pick<Row, 'outcome' | 'by' | 'reason'>> {
  const reasons: string[] = []
  for (const suite of suites) {
    const verdict = await runSuite(copy, suite)
    if (verdict.kind === 'caught') {
      const [file] = suite.split(' -t ')
      return { outcome: 'caught', by: `${file} > ${verdict.test}`, reason: verdict.reason }
    }
    reasons.push(verdict.kind === 'passed' ? 'it passed' : verdict.reason)
  }
  return { outcome: 'MISSED', by: suites.join(', '), reason: reasons.join('; ') }
}

/** A copy of the source in which the suites run. */
function createCopy(): string {
  const copy = mkdtempSync(join(tmpdir(), 'cuponera-planted-'))
  for (const name of copied) cpSync(join(project, name), join(copy, name), { recursive: true })
  for (const name of ['node_modules', '.native']) symlinkSync(join(project, name), join(copy, name))
  return copy
}

/** Judge the faults that are left, one after the other. */
async function work(left: PlantedFault[]): Promise<TimedRow[]> {
  const copy = createCopy()
  const rows: TimedRow[] = []
  try {
    for (let fault = left.shift(); fault; fault = left.shift()) {
      const started = performance.now()
      const judged = await judge(fault, copy)
      const seconds = Math.round((performance.now() - started) / 1000)
      for (const { name, kind, outcome } of judged) console.log(`${outcome} ${name} (${kind})`)
      rows.push(...judged.map((row) => ({ ...row, seconds })))
    }
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
  return rows
}

/** Print the table. The exit code: 0, 1 for too few, 2 for a run that proves nothing. */
function tell(rows: readonly TimedRow[]): number {
  const cell = (text: string) => text.replaceAll('|', '\\|')
  console.log('\n| fault | kind | caught by | reason | seconds |\n|---|---|---|---|---|')
  for (const { name, kind, outcome, by, reason, seconds } of rows) {
    const caughtBy = outcome === 'caught' ? by : `${outcome}: ${by}`
    console.log(`| ${[name, kind, caughtBy, reason, String(seconds)].map(cell).join(' | ')} |`)
  }
  console.log('\n| kind | planted | caught |\n|---|---|---|')
  for (const [kind, ofKind] of Map.groupBy(rows, (row) => row.kind)) {
    console.log(`| ${kind} | ${ofKind.length} | ${caughtIn(ofKind).length} |`)
  }
  const byFault = [...Map.groupBy(rows, (row) => row.name).values()]
  const caught = byFault.filter((ofFault) => caughtIn(ofFault).length === ofFault.length).length
  const share = (caught / byFault.length) * 100
  console.log(
    `\n${caught} of ${byFault.length} planted faults were caught by each harness that must (${share.toFixed(1)} %)`,
  )
  console.log(`the longest one took ${Math.max(...rows.map(({ seconds }) => seconds))} s`)
  const invalid = rows.filter(({ outcome }) => outcome === 'INVALID').map(({ by }) => by)
  if (invalid.length === 0) return share >= shareMin ? 0 : 1
  console.log(`INVALID: ${[...new Set(invalid)].join(', ')} must pass without a fault`)
  return 2
}

function caughtIn(rows: readonly Row[]): Row[] {
  return rows.filter(({ outcome }) => outcome === 'caught')
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      only: { type: 'string', default: '' },
      processes: { type: 'string', default: '1' },
    },
  })
  const left = faults.filter(({ name }) => new RegExp(values.only).test(name))
  const workers = Array.from({ length: Number(values.processes) }, () => work(left))
  process.exitCode = tell((await Promise.all(workers)).flat())
}
