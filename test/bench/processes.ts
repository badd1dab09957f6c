import { join } from 'node:path'
import type { LoadJob, LoadResult } from './load.ts'
import { engineIn } from './same-engine.ts'

/** A process of the bench that listens. */
export type Listening = { url: string; pid: number }

/** How many times as many values a job gets at most when they ran out. */
const moreMax = 64

const children = new Set<Bun.Subprocess>()

/** `endProcesses` ends this one, too. */
export function endsWithBench(child: Bun.Subprocess): void {
  children.add(child)
}

/** End every process of the bench. */
export async function endProcesses(): Promise<void> {
  for (const child of children) child.kill('SIGKILL')
  await Promise.all([...children].map((child) => child.exited))
  children.clear()
}

/** Start one of the servers in ceiling.ts. */
export async function startCeiling(
  kind: 'stack' | 'bare' | 'raw',
): Promise<Listening & { engine: string }> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'ceiling.ts'), kind], {
    env: { PATH: process.env.PATH },
    stdout: 'pipe',
    stderr: 'inherit',
  })
  children.add(child)
  let output = ''
  for await (const chunk of child.stdout) {
    output += Buffer.from(chunk).toString()
    const url = /address\s+(\S+)\n/.exec(output)?.[1]
    if (url) return { url, pid: child.pid, engine: engineIn(output) }
  }
  throw new Error(`the ceiling "${kind}" did not start: ${output}`)
}

/** The load generator, a process of its own so that it has a core of its own. */
export function startLoader() {
  const worker = startWorker<LoadJob, LoadResult>(join(import.meta.dir, 'load.ts'), [])
  return {
    run: worker.run,
    /**
     * Run a job whose values are used up. `jobOf` makes one with `count` values; when they end before half of
     * the window is over, because the server is faster than was guessed, it runs again with twice as many.
     */
    async runFull(jobOf: (count: number) => LoadJob, count: number): Promise<LoadResult> {
      for (let times = 1; ; times *= 2) {
        const job = jobOf(count * times)
        const result = await worker.run(job)
        if (result.seconds >= job.seconds / 2) return result
        if (times >= moreMax) throw new Error(`${count * times} values did not last for the window`)
      }
    },
  }
}

/** A process that does one job at a time. One that ended is started again for the next job. */
export function startWorker<Job, Result>(file: string, args: readonly string[]) {
  let settle: ((message: { result?: Result; error?: string }) => void) | null = null
  const start = () => {
    const child = Bun.spawn([process.execPath, file, ...args], {
      env: { PATH: process.env.PATH },
      stdio: ['ignore', 'inherit', 'inherit'],
      ipc: (message) => settle?.(message),
    })
    children.add(child)
    void child.exited.then((code) => settle?.({ error: `${file} ended with ${code}` }))
    return child
  }
  let child = start()
  return {
    run(job: Job): Promise<Result> {
      if (child.exitCode !== null) child = start()
      const { promise, resolve, reject } = Promise.withResolvers<Result>()
      settle = ({ result, error }) => {
        settle = null
        if (result !== undefined) resolve(result)
        else reject(new Error(error))
      }
      child.send(job)
      return promise
    },
  }
}

/** Measure a row. One that fails is told and left out, so that the rest of a run is not lost. */
export async function rowOrNull<Row>(
  name: string,
  say: (line: string) => void,
  measure: () => Promise<Row>,
): Promise<Row | null> {
  try {
    return await measure()
  } catch (cause) {
    if (!(cause instanceof Error)) throw cause
    say(`${name}: not measured: ${cause.message}`)
    return null
  }
}
