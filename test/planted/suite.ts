/** Runs of a suite in a scratch copy of the source, and what they prove. */

/** `nothing`: the run says neither that the suite is well nor that it caught a fault. */
export type Verdict =
  | { kind: 'passed' }
  | { kind: 'caught'; test: string; reason: string }
  | { kind: 'nothing'; reason: string }

/** The end of a run: its text, its exit code, and true if it was ended after its time. */
export type Ended = { output: string; code: number; late: boolean }

const suiteSeconds = 180
/** A reason is printed on one line. */
const reasonCharacters = 120

/** Errors of a file that does not load, of an edit that is not the program that was meant, and of a lost connection. */
const noProof =
  /(SyntaxError|ReferenceError|BuildMessage|ResolveMessage|Cannot find (module|package)|Export named|ECONNRE|socket connection was closed|Unable to connect)/

/** Run a suite in a copy of the source: a file of tests, or a campaign that prints `SEED=` at its first failure. */
export async function runSuite(copy: string, suite: string): Promise<Verdict> {
  const [path = '', pattern] = suite.split(' -t ')
  const [file = '', ...args] = path.split(' ')
  const campaign = !file.endsWith('.test.ts')
  const named = pattern === undefined ? [] : ['--test-name-pattern', pattern]
  const options = ['--isolate', '--no-orphans', '--timeout=60000', '--bail=1', ...named]
  const command = campaign ? [file, ...args] : ['test', ...options, `./${file}`]
  const child = Bun.spawn([process.execPath, ...command], {
    cwd: copy,
    // The same seed for every fault, so that a run can be repeated.
    env: { SEED: '1', ...process.env, TEST_PROGRAM: undefined },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: suiteSeconds * 1000,
  })
  const [out, errors, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  const ended = { output: out + errors, code, late: child.signalCode !== null }
  return campaign ? verdictOfCampaign(ended) : verdictOfTests(ended)
}

/** The verdict of a run of tests that stops at the first failure. */
export function verdictOfTests({ output, code, late }: Ended): Verdict {
  if (late) return nothing(`it takes more than ${suiteSeconds} s`)
  if (code === 0) {
    const passed = /^\s*[1-9]\d* pass$/m.test(output)
    return passed ? { kind: 'passed' } : nothing('none of its tests ran')
  }
  const failed = /^\(fail\) ([^\n]*?)(?: \[[\d.]+m?s\])?$/m.exec(output)
  const [, test = ''] = failed ?? []
  if (!failed || test === '(unnamed)') return nothing(`no test failed: ${lastLine(output)}`)
  const after = output.slice(failed.index).split('\n', 2).join(' ')
  if (/timed out after \d+ ?ms/.test(after)) return nothing(`${test} timed out`)
  return judged(test, reasonIn(output.slice(0, failed.index)))
}

/** The verdict of a campaign that tells its first failure in one line. */
export function verdictOfCampaign({ output, code, late }: Ended): Verdict {
  if (late) return nothing(`it takes more than ${suiteSeconds} s`)
  if (code === 0) {
    return output.includes('no difference') ? { kind: 'passed' } : nothing('it compared nothing')
  }
  const [, seed, reason] = /^SEED=(\d+) (?:failed|differs): (.+)$/m.exec(output) ?? []
  if (seed === undefined || reason === undefined)
    return nothing(`no seed failed: ${lastLine(output)}`)
  return judged(`seed ${seed}`, reason)
}

function judged(test: string, reason: string): Verdict {
  if (reason === '') return nothing(`${test} failed without a reason`)
  if (noProof.test(reason)) return nothing(reason)
  return { kind: 'caught', test, reason: clipped(reason) }
}

function nothing(reason: string): Verdict {
  return { kind: 'nothing', reason: clipped(reason) }
}

/** The last error that was printed, with its first expected and received lines. */
function reasonIn(output: string): string {
  const lines = output.split('\n')
  const at = lines.findLastIndex((line) => /^(error|\w*(Error|Refusal|Mismatch)): ./.test(line))
  if (at < 0) return ''
  const rest = lines.slice(at + 1)
  const values = [
    /^Expected[^:]*: /,
    /^Received[^:]*: /,
    /^- (?!Expected ).*\w/,
    /^\+ (?!Received ).*\w/,
  ]
  const told = values.flatMap((value) => rest.find((line) => value.test(line)) ?? [])
  return [lines[at], ...told].map((line) => line?.replaceAll(/\s+/g, ' ').trim()).join(' ')
}

function lastLine(output: string): string {
  return output.trim().split('\n').at(-1) ?? ''
}

function clipped(text: string): string {
  return text.length > reasonCharacters ? `${text.slice(0, reasonCharacters)}…` : text
}
