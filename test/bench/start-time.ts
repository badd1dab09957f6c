import { mkdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { benchEnvironment } from './fixture.ts'
import { median } from './machine.ts'

/**
 * Milliseconds from the start of a process to its first 200 on /readyz, each of several starts on the
 * same data directory; the first one finds what was there before.
 */
export async function startTimes(
  command: readonly string[],
  dataDir: string,
  starts: number,
): Promise<number[]> {
  const times: number[] = []
  for (let count = 0; count < starts; count++) times.push(await startTime(command, dataDir))
  return times
}

/** The median of starts on directories that do not exist yet: keys and schema are made then. */
export async function firstStartMs(command: readonly string[], root: string, starts: number) {
  const times: number[] = []
  for (let count = 0; count < starts; count++) {
    const dataDir = join(root, `first-${count}`)
    mkdirSync(dataDir)
    times.push(await startTime(command, dataDir))
    rmSync(dataDir, { recursive: true })
  }
  return median(times)
}

async function startTime(command: readonly string[], dataDir: string): Promise<number> {
  const port = await freePort()
  const started = performance.now()
  const child = Bun.spawn([...command, 'serve'], {
    env: {
      PATH: process.env.PATH,
      HOST: '127.0.0.1',
      PORT: String(port),
      DATA_DIR: dataDir,
      ...benchEnvironment,
    },
    stdout: 'ignore',
    stderr: 'inherit',
  })
  try {
    while (!(await answers(port))) {
      if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}`)
      await Bun.sleep(1)
    }
    return performance.now() - started
  } finally {
    child.kill('SIGTERM')
    await child.exited
  }
}

/** How Bun names it, by version and system. */
const refused = new Set(['ConnectionRefused', 'ECONNREFUSED', 'ECONNRESET'])

async function answers(port: number): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${port}/readyz`)).status === 200
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && refused.has(String(cause.code))) return false
    throw cause
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}
