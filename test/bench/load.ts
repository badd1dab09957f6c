/**
 * The load generator: one process, raw TCP keep-alive connections, one request in flight on each.
 * Everything a request needs is made before the clock starts; an answer is read only as far as its length.
 * Speaks with the bench over IPC: a `LoadJob` in, a `LoadResult` out.
 */
import { randomBytes } from 'node:crypto'
import { createNonce } from '../../src/coupons/nonce.ts'
import { createProof, newSigner, nostrHeader } from '../support/client.ts'
import { cpuSeconds } from '../support/process-figures.ts'
import { type FilePart, noncesOf } from './nonces.ts'
import { publishNotes, signNotes } from './notes.ts'
import { paymentsOf } from './payments.ts'
import { tapsOf } from './taps.ts'

/** The values for `$VALUE` in a request. */
export type Values =
  | { from: 'none' }
  /** Made before. */
  | { from: 'list'; list: string[] }
  /** Nonces nobody knows: for servers that do not look. */
  | { from: 'random'; count: number }
  /** Nonces minted at the server before the clock starts. */
  | { from: 'minted'; count: number; token: string; couponId: string }
  /** Nonces of a made file, all over it. */
  | { from: 'file'; part: FilePart }
  /** Notes (kind 1) of a key, each signed afresh. */
  | { from: 'notes'; count: number; secret: string }
  /** None, but so many notes of a key were published before. */
  | { from: 'published'; count: number; secret: string }
  /** Requests of a till for taps that the server was given, or for such that nobody looks up. */
  | { from: 'payments'; first: number; count: number }
  /** Taps of cards that the server was given, or that nobody looks up. */
  | { from: 'taps'; first: number; count: number }
  /** Authorization headers (NIP-98), each signed afresh. */
  | { from: 'signed'; count: number; secret: string; method: string; target: string; body: string }

export type LoadJob = {
  url: string
  /** Other nodes of the same service, which get their part of the connections. */
  others?: string[]
  /** The server's process, for its CPU time; null for a server that this bench did not start. */
  pid: number | null
  /** A whole HTTP request with `$VALUE` where a value goes, and `$HOST`. */
  request: string
  values: Values
  /** Values may be used again: for requests that change nothing. */
  again: boolean
  /** The status of each answer; `success` is any from 200 to 299. */
  status: number | 'success'
  connections: number
  warmSeconds: number
  seconds: number
}

export type LoadResult = {
  perSecond: number
  p50Ms: number
  p99Ms: number
  /** Length of the window: shorter than asked when the values ran out, 0 when they did so before it began. */
  seconds: number
  /** Answers inside the window. */
  answers: number
  /** Everything that was answered, the warm-up included. */
  sent: number
  /** Processor time over wall time, in the window. */
  serverCpu: number
  clientCpu: number
}

type Connection = { sentAt: number; expected: number; pending: Buffer | null; missing: number }

/** Latencies are counted in slots of 10 µs; what takes longer than the last one counts as that. */
const slotsPerMs = 100
const slots = 2000 * slotsPerMs

if (process.send) {
  process.on('message', (job: LoadJob) => {
    run(job).then(
      (result) => process.send?.({ result }),
      (error: unknown) => process.send?.({ error: String(error) }),
    )
  })
  process.on('disconnect', () => process.exit(0))
}

async function run(job: LoadJob): Promise<LoadResult> {
  const values = await prepare(job.url, job.values)
  const request = job.request.replace('$HOST', new URL(job.url).host)
  const parts = request.split('$VALUE')
  const texts = values.map((value) => Buffer.from(parts.join(value), 'latin1'))
  const constant = Buffer.from(request, 'latin1')
  return new Promise((resolve, reject) => {
    measure(job, values.length === 0 ? [constant] : texts, resolve, reject)
  })
}

function measure(
  job: LoadJob,
  requests: Buffer[],
  resolve: (result: LoadResult) => void,
  reject: (cause: Error) => void,
): void {
  const targets = [job.url, ...(job.others ?? [])].map((url) => new URL(url))
  const again = job.again || job.values.from === 'none'
  const latencies = new Uint32Array(slots)
  const sockets: Bun.Socket<Connection>[] = []
  let next = 0
  let sent = 0
  let answers = 0
  let failed = false
  let ended = false
  let opened = 0
  const begin = performance.now()
  let from = Number.POSITIVE_INFINITY
  let until = Number.POSITIVE_INFINITY
  let last = begin
  let cpu = { server: 0, client: 0 }

  const fail = (message: string) => {
    if (failed || ended) return
    failed = true
    for (const socket of sockets) socket.terminate()
    reject(new Error(message))
  }
  const end = () => {
    if (ended || failed) return
    ended = true
    const now = Math.min(last, until)
    const spent = { server: cpuOf(job.pid), client: cpuSeconds(process.pid) }
    const seconds = Math.max(now - from, 0) / 1000
    for (const socket of sockets) socket.end()
    if (answers === 0 && seconds > 0) return reject(new Error('no answer came inside the window'))
    resolve({
      seconds,
      perSecond: answers / seconds,
      p50Ms: percentile(latencies, answers, 0.5),
      p99Ms: percentile(latencies, answers, 0.99),
      answers,
      sent,
      serverCpu: (spent.server - cpu.server) / seconds,
      clientCpu: (spent.client - cpu.client) / seconds,
    })
  }
  const send = (socket: Bun.Socket<Connection>) => {
    if (next === requests.length) {
      if (!again) return end()
      next = 0
    }
    const request = requests[next++] as Buffer
    socket.data.sentAt = performance.now()
    if (socket.write(request) !== request.length) fail('a request did not fit into the socket')
  }
  const answered = (socket: Bun.Socket<Connection>) => {
    const now = performance.now()
    last = now
    sent++
    if (now >= until) return end()
    if (now >= from) {
      if (answers++ === 0) cpu = { server: cpuOf(job.pid), client: cpuSeconds(process.pid) }
      const slot = Math.floor((now - socket.data.sentAt) * slotsPerMs)
      latencies[Math.min(slot, slots - 1)]!++
    }
    if (!ended) send(socket)
  }

  const expected = (answer: Uint8Array) => {
    const status = statusOf(answer)
    return job.status === 'success' ? status >= 200 && status < 300 : status === job.status
  }
  const handlers: Bun.SocketHandler<Connection> = {
    open(socket) {
      sockets.push(socket)
      if (++opened < job.connections) return
      from = performance.now() + job.warmSeconds * 1000
      until = from + job.seconds * 1000
      for (const each of sockets) send(each)
    },
    data(socket, chunk) {
      const { data } = socket
      // The usual answer is one chunk, as long as the one before.
      if (data.pending === null && chunk.length === data.expected && expected(chunk))
        return answered(socket)
      data.pending = data.pending === null ? chunk : Buffer.concat([data.pending, chunk])
      const length = lengthOf(data.pending)
      if (length === null || data.pending.length < length) return
      const whole = data.pending
      if (whole.length > length) return fail('more came than was asked for')
      if (!expected(whole)) return fail(`unexpected: ${whole.toString().slice(0, 800)}`)
      data.pending = null
      // An answer in chunks tells its end only by its last bytes.
      data.expected = chunked(whole) ? -1 : length
      answered(socket)
    },
    close: () => fail('the server closed a connection'),
    error: (_, cause) => fail(cause.message),
    connectError: (_, cause) => fail(cause.message),
  }
  for (let made = 0; made < job.connections; made++) {
    const data = { sentAt: 0, expected: -1, pending: null, missing: 0 }
    const { hostname, port } = targets[made % targets.length] as URL
    void Bun.connect({ hostname, port: Number(port), socket: handlers, data })
  }
}

function statusOf(answer: Uint8Array): number {
  return ((answer[9] ?? 0) - 48) * 100 + ((answer[10] ?? 0) - 48) * 10 + ((answer[11] ?? 0) - 48)
}

function cpuOf(pid: number | null): number {
  return pid === null ? Number.NaN : cpuSeconds(pid)
}

function chunked(answer: Buffer): boolean {
  const head = answer.toString('latin1', 0, answer.indexOf('\r\n\r\n') + 2)
  return /\r\ntransfer-encoding: *chunked\r\n/i.test(head)
}

/** The bytes of a whole answer, or null while its end is not known. */
function lengthOf(answer: Buffer): number | null {
  const end = answer.indexOf('\r\n\r\n')
  if (end === -1) return null
  if (chunked(answer))
    return answer.toString('latin1').endsWith('\r\n0\r\n\r\n') ? answer.length : null
  const declared = /\r\ncontent-length: *(\d+)/i.exec(answer.toString('latin1', 0, end))?.[1]
  if (declared === undefined) throw new Error('an answer declares no length')
  return end + 4 + Number(declared)
}

function percentile(latencies: Uint32Array, total: number, share: number): number {
  let seen = 0
  for (const [slot, count] of latencies.entries()) {
    seen += count
    if (seen >= total * share) return (slot + 0.5) / slotsPerMs
  }
  return Number.POSITIVE_INFINITY
}

async function prepare(url: string, values: Values): Promise<string[]> {
  switch (values.from) {
    case 'none':
      return []
    case 'list':
      return values.list
    case 'random':
      return Array.from({ length: values.count }, createNonce)
    case 'minted':
      return mintMany(url, values)
    case 'file':
      return noncesOf(values.part)
    case 'notes':
      return signNotes(values)
    case 'published':
      await publishNotes(url, values)
      return []
    case 'payments':
      return paymentsOf(values)
    case 'taps':
      return tapsOf(values)
    case 'signed': {
      const { secret, method, target, body } = values
      const signer = newSigner(Uint8Array.fromHex(secret))
      const proof = () => {
        const nonce = ['nonce', randomBytes(8).toString('hex')]
        const tags = [['u', `${url}${target}`], ['method', method], nonce]
        return nostrHeader(createProof(signer, '', { tags, body }))
      }
      return Array.from({ length: values.count }, proof)
    }
  }
}

/** Several vouchers, or one of a server that does not know `count`. */
type Minted = { vouchers?: { nonce: string }[]; nonce?: string }

async function mintMany(
  url: string,
  { count, token, couponId }: { count: number; token: string; couponId: string },
): Promise<string[]> {
  const nonces: string[] = []
  while (nonces.length < count) {
    const response = await fetch(`${url}/api/coupons/mint`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ couponId, count: Math.min(500, count - nonces.length) }),
    })
    if (!response.ok) throw new Error(`minting failed: ${await response.text()}`)
    const { vouchers, nonce } = (await response.json()) as Minted
    if (vouchers) nonces.push(...vouchers.map((voucher) => voucher.nonce))
    else if (nonce !== undefined) nonces.push(nonce)
    else throw new Error('a minted voucher has no nonce')
  }
  return nonces
}
