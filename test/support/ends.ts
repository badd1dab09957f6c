import { expect } from 'bun:test'
import { join } from 'node:path'

const root = join(import.meta.dir, '..', '..')
/** Far more than linear work on megabytes takes on a loaded machine, far less than the hours of quadratic work. */
export const endMs = 120_000

/** Run code in a process of its own, which is killed if it does not end: a loop in this one would stop all tests. */
export async function expectEnd(code: string): Promise<void> {
  const child = Bun.spawn([process.execPath, '-e', code], {
    cwd: root,
    stdout: 'ignore',
    stderr: 'pipe',
    timeout: endMs,
    killSignal: 'SIGKILL',
  })
  const [status, errors] = await Promise.all([child.exited, new Response(child.stderr).text()])
  expect([status, errors]).toEqual([0, ''])
}
