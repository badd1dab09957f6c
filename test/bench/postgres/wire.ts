import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { compileC, whyNoCompiler } from '../../support/compile-c.ts'
import { newDirectory } from '../../support/server.ts'
import { endsWithBench } from '../processes.ts'

const file = '.s.PGSQL.5432'

/** A way to a PostgreSQL server on which each round trip takes `delayMs` longer. `socket`: where it listens. */
export async function startWire(server: string, delayMs: number) {
  const reason = whyNoCompiler()
  if (reason !== null) throw new Error(reason)
  const program = compileC(join(import.meta.dir, 'wire.c'), ['-O2'])
  const socket = newDirectory()
  chmodSync(socket, 0o755)
  const microseconds = String(Math.round(delayMs * 1000))
  const child = Bun.spawn([program, join(socket, file), join(server, file), microseconds], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  endsWithBench(child)
  const lines = linesOf(child.stdout)
  const next = async () => {
    const { value, done } = await lines.next()
    if (done) throw new Error('the wire ended')
    return value
  }
  await next()
  return {
    socket,
    /** How often a client has sent something after the server said something. */
    async roundTrips(): Promise<number> {
      child.stdin.write('.')
      child.stdin.flush()
      return Number(await next())
    },
  }
}

async function* linesOf(output: ReadableStream<Uint8Array>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const bytes of output) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
}
