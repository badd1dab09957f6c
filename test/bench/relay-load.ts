/**
 * The relay's load: one process, raw TCP, every frame and request made and signed before the clock starts.
 * Speaks with the bench over IPC: a `RelayJob` in, a `RelayResult` out.
 */
import { textFrame } from '../support/raw-socket.ts'
import { signNotes } from './notes.ts'

export type RelayJob =
  /** Events through one connection, at most `window` of them unanswered. */
  | { type: 'ingest'; url: string; count: number; window: number; secret: string }
  /** One question at a time. */
  | { type: 'query'; url: string; filters: unknown[] }
  /** `POST /nostr/publish` over so many connections. */
  | { type: 'publish'; url: string; count: number; connections: number; secret: string }
  /** Subscribers of an author, until each had `count` events. */
  | { type: 'subscribe'; url: string; subscribers: number; author: string; count: number }

export type RelayResult = { seconds: number; perSecond: number; p50Ms: number; p99Ms: number }

if (process.send) {
  process.on('message', (job: RelayJob) => {
    run(job).then(
      (result) => process.send?.({ result }),
      (error: unknown) => process.send?.({ error: String(error) }),
    )
  })
  process.on('disconnect', () => process.exit(0))
}

function run(job: RelayJob): Promise<RelayResult> {
  switch (job.type) {
    case 'ingest':
      return ingest(job)
    case 'query':
      return query(job)
    case 'publish':
      return publish(job)
    case 'subscribe':
      return subscribe(job)
  }
}

async function ingest({ url, count, window, secret }: Extract<RelayJob, { type: 'ingest' }>) {
  const frames = signNotes({ secret, count }).map((text) => textFrame(`["EVENT",${text}]`))
  const sentAt = new Float64Array(count)
  const latencies: number[] = []
  const done = Promise.withResolvers<void>()
  let sent = 0
  const sender = createSender()
  const send = () => {
    const batch: Buffer[] = []
    while (sent < count && sent - latencies.length < window) {
      sentAt[sent] = performance.now()
      batch.push(frames[sent++] as Buffer)
    }
    if (batch.length > 0) sender.write(Buffer.concat(batch))
  }
  const socket = await openWebSocket(
    url,
    (payload) => {
      // `["OK","<64>",true`: answers come in the order of the events.
      if (payload[1] !== 34 || payload[2] !== 79 || payload[73] !== 116) {
        return done.reject(new Error(`unexpected: ${payload.toString().slice(0, 200)}`))
      }
      latencies.push(performance.now() - (sentAt[latencies.length] ?? 0))
      if (latencies.length === count) done.resolve()
      else if (sent - latencies.length <= window / 2) send()
    },
    sender,
  )
  process.send?.({ ready: true })
  const started = performance.now()
  send()
  await done.promise
  const seconds = (performance.now() - started) / 1000
  socket.end()
  return resultOf(seconds, latencies)
}

async function query({ url, filters }: Extract<RelayJob, { type: 'query' }>) {
  const frames = filters.map((filter) => textFrame(JSON.stringify(['REQ', 'q', filter])))
  const latencies: number[] = []
  let ended = Promise.withResolvers<void>()
  const sender = createSender()
  const socket = await openWebSocket(
    url,
    (payload) => {
      // `["EOSE"` ends an answer.
      if (payload[2] === 69 && payload[3] === 79) ended.resolve()
    },
    sender,
  )
  const started = performance.now()
  for (const frame of frames) {
    ended = Promise.withResolvers<void>()
    const asked = performance.now()
    sender.write(frame)
    await ended.promise
    latencies.push(performance.now() - asked)
  }
  socket.end()
  return resultOf((performance.now() - started) / 1000, latencies)
}

async function publish(job: Extract<RelayJob, { type: 'publish' }>) {
  const { url, count, connections, secret } = job
  const { hostname, port, host } = new URL(url)
  const requests = signNotes({ secret, count }).map((text) =>
    Buffer.from(
      `POST /nostr/publish HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: ${text.length}\r\n\r\n${text}`,
    ),
  )
  const latencies: number[] = []
  const done = Promise.withResolvers<void>()
  let sent = 0
  type State = { sentAt: number }
  const send = (socket: Bun.Socket<State>) => {
    const request = requests[sent++]
    if (!request) return
    socket.data.sentAt = performance.now()
    socket.write(request)
  }
  const started = performance.now()
  for (let made = 0; made < connections; made++) {
    void Bun.connect<State>({
      hostname,
      port: Number(port),
      data: { sentAt: 0 },
      socket: {
        open: send,
        data(socket, chunk) {
          if (chunk.toString('latin1', 9, 12) !== '202')
            return done.reject(new Error(chunk.toString()))
          latencies.push(performance.now() - socket.data.sentAt)
          if (latencies.length === count) done.resolve()
          else send(socket)
        },
        close: () => done.reject(new Error('the server closed a connection')),
      },
    })
  }
  await done.promise
  return resultOf((performance.now() - started) / 1000, latencies)
}

async function subscribe(job: Extract<RelayJob, { type: 'subscribe' }>) {
  const { url, subscribers, author, count } = job
  const frame = textFrame(JSON.stringify(['REQ', 's', { authors: [author], limit: 0 }]))
  let complete = 0
  let first = 0
  const done = Promise.withResolvers<void>()
  const sockets = await Promise.all(
    Array.from({ length: subscribers }, async () => {
      let got = 0
      const opened = Promise.withResolvers<void>()
      const sender = createSender()
      const socket = await openWebSocket(
        url,
        (payload) => {
          if (payload[3] !== 86) return opened.resolve()
          first ||= performance.now()
          if (++got === count && ++complete === subscribers) done.resolve()
        },
        sender,
      )
      sender.write(frame)
      await opened.promise
      return socket
    }),
  )
  process.send?.({ ready: true })
  await done.promise
  const seconds = (performance.now() - first) / 1000
  for (const socket of sockets) socket.end()
  return { ...resultOf(seconds, []), perSecond: (subscribers * count) / seconds }
}

type Sender = ReturnType<typeof createSender>

/** Writes all of it, also when the socket takes it in parts. */
function createSender() {
  let socket: Bun.Socket | null = null
  let left: Buffer[] = []
  const flush = () => {
    while (left.length > 0 && socket) {
      const [chunk = Buffer.alloc(0)] = left
      const written = socket.write(chunk)
      if (written < chunk.length) {
        left[0] = chunk.subarray(Math.max(written, 0))
        return
      }
      left.shift()
    }
  }
  return {
    use(opened: Bun.Socket) {
      socket = opened
    },
    write(chunk: Buffer) {
      left = [...left, chunk]
      flush()
    },
    flush,
  }
}

/** A WebSocket whose text messages are handed over as bytes, without decoding them. */
async function openWebSocket(
  url: string,
  onMessage: (payload: Buffer) => void,
  sender: Sender,
): Promise<Bun.Socket> {
  const { hostname, port, host } = new URL(url)
  const upgraded = Promise.withResolvers<void>()
  let open = false
  let rest: Buffer = Buffer.alloc(0)
  const take = (chunk: Buffer) => {
    let data = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk
    if (!open) {
      const end = data.indexOf('\r\n\r\n')
      if (end === -1) {
        rest = data
        return
      }
      open = true
      upgraded.resolve()
      data = data.subarray(end + 4)
    }
    let at = 0
    while (data.length - at >= 2) {
      const short = (data[at + 1] ?? 0) & 127
      const header = short === 126 ? 4 : short === 127 ? 10 : 2
      if (data.length - at < header) break
      const length =
        short === 126
          ? data.readUInt16BE(at + 2)
          : short === 127
            ? Number(data.readBigUInt64BE(at + 2))
            : short
      if (data.length - at < header + length) break
      if (((data[at] ?? 0) & 15) === 1) onMessage(data.subarray(at + header, at + header + length))
      at += header + length
    }
    rest = data.subarray(at)
  }
  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      data: (_, chunk) => take(Buffer.from(chunk)),
      drain: () => sender.flush(),
      close: () => upgraded.reject(new Error('the server closed the connection')),
    },
  })
  sender.use(socket)
  sender.write(
    Buffer.from(
      `GET /relay HTTP/1.1\r\nHost: ${host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: ${'A'.repeat(22)}==\r\nSec-WebSocket-Version: 13\r\n\r\n`,
    ),
  )
  await upgraded.promise
  return socket
}

function resultOf(seconds: number, latencies: number[]): RelayResult {
  const sorted = latencies.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN
  return { seconds, perSecond: latencies.length / seconds, p50Ms: at(0.5), p99Ms: at(0.99) }
}
