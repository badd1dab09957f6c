/**
 * The way to a PostgreSQL server, as a process of its own: what clients send arrives later by a delay, so that each
 * round trip takes that much longer. It counts round trips: a client that sends after the server has said something.
 *   wire.ts DIRECTORY DIRECTORY-OF-THE-SERVER DELAY-MS
 */
import { chmodSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'

const file = '.s.PGSQL.5432'
/** A timer of JavaScript takes whole milliseconds; a wait of this long in between leaves the processor to others. */
const stepMs = 0.1

const [directory = '', server = '', delay = '0'] = process.argv.slice(2)
const delayMs = Number(delay)
const queue: { at: number; to: Socket; chunk: string | Buffer }[] = []
const cell = new Int32Array(new SharedArrayBuffer(4))
let pumping = false
let roundTrips = 0

const listener = createServer((client) => {
  const inner = connect(join(server, file))
  let answered = true
  const end = () => {
    client.destroy()
    inner.destroy()
  }
  for (const socket of [client, inner]) socket.on('error', end).on('close', end)
  inner.on('data', (chunk) => {
    answered = true
    client.write(chunk)
  })
  client.on('data', (chunk) => {
    if (answered) roundTrips++
    answered = false
    if (delayMs === 0) return void inner.write(chunk)
    queue.push({ at: performance.now() + delayMs, to: inner, chunk })
    if (!pumping) {
      pumping = true
      pump()
    }
  })
})

function pump(): void {
  while (queue[0] && queue[0].at <= performance.now()) {
    const { to, chunk } = queue.shift() as (typeof queue)[0]
    if (!to.destroyed) to.write(chunk)
  }
  if (queue[0] === undefined) {
    pumping = false
    return
  }
  Atomics.wait(cell, 0, 0, Math.min(stepMs, Math.max(0, queue[0].at - performance.now())))
  setImmediate(pump)
}

const ready = new Promise<void>((resolve) => listener.listen(join(directory, file), resolve))
process.on('message', async () => {
  await ready
  // A standby that comes this way runs as another user.
  chmodSync(join(directory, file), 0o777)
  process.send?.({ result: roundTrips })
})
process.on('disconnect', () => process.exit(0))
