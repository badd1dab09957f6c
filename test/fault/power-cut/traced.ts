import { readFileSync } from 'node:fs'
import { startServer } from '../../support/server.ts'
import { type Syncs, tracing } from './calls.ts'

/** A service under the recorder. The end of its scope ends it, too, because the end of strace alone would not. */
export type TracedServer = AsyncDisposable & {
  url: string
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>
  /** Resolves when it has ended, also by itself. */
  exited: Promise<unknown>
}

/** `trace`: the file for the recorded calls. `command`: the program. */
export async function startTraced(
  trace: string,
  {
    command,
    syncs = {},
    ...options
  }: {
    dataDir: string
    env: Record<string, string>
    command: readonly string[]
    syncs?: Syncs
  },
): Promise<TracedServer> {
  const server = await startServer({ ...options, command: tracing(trace, command, syncs) })
  const [child] = readFileSync(`/proc/${server.pid}/task/${server.pid}/children`, 'utf8').split(' ')
  const program = Number(child)
  let running = true
  void server.exited.then(() => {
    running = false
  })
  const end = async (signal: 'SIGTERM' | 'SIGKILL') => {
    running = false
    process.kill(program, signal)
    await server.exited
  }
  return {
    url: server.url,
    end,
    exited: server.exited,
    async [Symbol.asyncDispose]() {
      if (running) await end('SIGKILL')
    },
  }
}
