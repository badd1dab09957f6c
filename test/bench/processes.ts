import { join } from 'node:path'
import type { LoadJob, LoadResult } from './load.ts'

/** A process of the bench that listens. */
export type Listening = { url: string; pid: number }

const children = new Set<Bun.Subprocess>()

/** End every process that this file started. */
export async function endProcesses(): Promise<void> {
  for (const child of children) child.kill('SIGKILL')
  await Promise.all([...children].map((child) => child.exited))
  children.clear()
}

/** Start one of the servers in ceiling.ts. */
export async function startCeiling(kind: 'stack' | 'bare' | 'raw'): Promise<Listening> {
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
    if (url) return { url, pid: child.pid }
  }
  throw new Error(`the ceiling "${kind}" did not start: ${output}`)
}

/** The load generator, a process of its own so that it has a core of its own. */
export function startLoader() {
  return startWorker<LoadJob, LoadResult>(join(import.meta.dir, 'load.ts'), [])
}

/** A process that does one job at a time. */
export function startWorker<Job, Result>(file: string, args: readonly string[]) {
  let settle: ((message: { result?: Result; error?: string }) => void) | null = null
  const child = Bun.spawn([process.execPath, file, ...args], {
    env: { PATH: process.env.PATH },
    stdio: ['ignore', 'inherit', 'inherit'],
    ipc: (message) => settle?.(message),
  })
  children.add(child)
  void child.exited.then((code) => settle?.({ error: `${file} ended with ${code}` }))
  return {
    run: (job: Job) =>
      new Promise<Result>((resolve, reject) => {
        settle = ({ result, error }) => {
          settle = null
          if (result !== undefined) resolve(result)
          else reject(new Error(error))
        }
        child.send(job)
      }),
  }
}
