/**
 * `npm run planted [-- --only PATTERN] [--unplanted]`: each deliberate fault of test/planted in a scratch copy of the
 * source, and the suites that must notice it. It prints which test did. `--only` takes faults whose names match; with
 * `--unplanted` their suites run once each without a fault, and must pass.
 */
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { PlantedFault } from './fault.ts'
import { faults, plant } from './faults.ts'

const project = join(import.meta.dir, '../..')
/** A suite that takes longer says nothing. */
const suiteSeconds = 180
const copied = [
  'src',
  'test',
  '.tools',
  'docs',
  'package.json',
  'schema.sql',
  'tsconfig.json',
].concat('bunfig.toml', 'package-lock.json', 'README.md', 'LICENSE')

/** The first test of a suite that failed, or null if all passed. */
async function firstFailure(copy: string, suite: string): Promise<string | null> {
  const [file = '', pattern] = suite.split(' -t ')
  const options = ['--isolate', '--no-orphans', '--timeout=60000', '--bail=1']
  const named = pattern === undefined ? [] : ['--test-name-pattern', pattern]
  const child = Bun.spawn([process.execPath, 'test', ...options, ...named, `./${file}`], {
    cwd: copy,
    env: { ...process.env, TEST_PROGRAM: undefined },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: suiteSeconds * 1000,
  })
  const [out, errors, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  const output = out + errors
  if (output.includes(' matched 0 tests')) throw new Error(`${suite}: no test has such a name`)
  if (code === 0 && /^\s*[1-9]\d* pass$/m.test(output)) return null
  const [, name] = /^\(fail\) (.*?)(?: \[[\d.]+m?s\])?$/m.exec(output) ?? []
  if (name === undefined && child.signalCode !== null) {
    throw new Error(`${suite} takes more than ${suiteSeconds} s here: the machine is too busy`)
  }
  return name ?? output.trim().split('\n').at(-1) ?? `it ended with ${code}`
}

async function run(fault: PlantedFault, copy: string): Promise<string | null> {
  const planted = plant(fault, (file) => readFileSync(join(project, file), 'utf8'))
  for (const [file, text] of planted) writeFileSync(join(copy, file), text)
  try {
    for (const suite of fault.suites) {
      const failure = await firstFailure(copy, suite)
      if (failure !== null) return `${suite.split(' -t ')[0]}: ${failure}`
    }
    return null
  } finally {
    for (const file of planted.keys()) cpSync(join(project, file), join(copy, file))
  }
}

async function runUnplanted(copy: string, chosen: readonly PlantedFault[]): Promise<number> {
  let failed = 0
  for (const suite of new Set(chosen.flatMap(({ suites }) => suites))) {
    const failure = await firstFailure(copy, suite)
    console.log(
      `${failure === null ? 'passes' : 'FAILS '} ${suite}${failure ? `: ${failure}` : ''}`,
    )
    if (failure !== null) failed++
  }
  return failed
}

async function runPlanted(copy: string, chosen: readonly PlantedFault[]): Promise<number> {
  let caught = 0
  for (const fault of chosen) {
    const by = await run(fault, copy)
    if (by !== null) caught++
    console.log(
      `${by === null ? 'MISSED' : 'caught'} ${fault.name}\n       ${by ?? fault.suites.join(', ')}`,
    )
  }
  const share = ((caught / chosen.length) * 100).toFixed(1)
  console.log(`${caught} of ${chosen.length} planted faults were caught (${share} %)`)
  return chosen.length - caught
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      only: { type: 'string', default: '' },
      unplanted: { type: 'boolean', default: false },
    },
  })
  const copy = mkdtempSync(join(tmpdir(), 'cuponera-planted-'))
  try {
    for (const name of copied) cpSync(join(project, name), join(copy, name), { recursive: true })
    for (const name of ['node_modules', '.native'])
      symlinkSync(join(project, name), join(copy, name))
    const chosen = faults.filter(({ name }) => new RegExp(values.only).test(name))
    process.exitCode =
      (await (values.unplanted ? runUnplanted(copy, chosen) : runPlanted(copy, chosen))) > 0 ? 1 : 0
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}
