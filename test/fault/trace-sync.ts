import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  call,
  createDefinition,
  mintOne,
  newKey,
  newSigner,
  openSession,
} from '../support/client.ts'
import { cleanUp, newDirectory, startServer, type TestServer } from '../support/server.ts'
import { until } from '../support/until.ts'

/** Which calls bring bytes to the write-ahead log, to the disk and to the client. */
const traced =
  'fsync,fdatasync,sync_file_range,pwrite64,pwritev,pwritev2,write,writev,sendto,sendmsg'

type Moment = { what: 'write' | 'sync' | 'answer'; at: number; line: string }

/** The result of a run: lines to show, and the broken rules. */
export type TraceReport = { shown: string[]; problems: string[] }

/** Why system calls cannot be traced here, or null when they can. */
export async function whyNotTraceable(): Promise<string | null> {
  if (Bun.which('strace') === null) return 'strace is not installed: this needs it'
  const probe = Bun.spawn(['sleep', '5'])
  try {
    const tracer = await attach(probe.pid, ['-e', 'trace=none'])
    await tracer.detach()
    return null
  } catch (cause) {
    if (!(cause instanceof Error)) throw cause
    return `strace may not attach to a process here: ${cause.message.trim()}`
  } finally {
    probe.kill()
  }
}

/** Trace one mint, one refresh and one claim: the sync of the log must lie between its last write and the answer. */
export async function traceOrder(): Promise<TraceReport> {
  const { server, token, couponId } = await startMinting()
  const report: TraceReport = { shown: [], problems: [] }
  const steps = {
    mint: (_: string) => call(server.url, '/api/coupons/mint', { body: { couponId }, token }),
    refresh: (nonce: string) =>
      call(server.url, '/api/coupons/refresh', {
        body: { nonce },
        headers: { 'Idempotency-Key': newKey() },
      }),
    claim: (nonce: string) => call(server.url, '/api/coupons/claim', { body: { nonce } }),
  }
  let nonce = ''
  for (const [name, step] of Object.entries(steps)) {
    const output = join(newDirectory(), 'trace')
    const options = ['-f', '-ttt', '-yy', '-s', '48', '-e', `trace=${traced}`, '-o', output]
    const tracer = await attach(server.pid, options)
    const answer = await step(nonce)
    await tracer.detach()
    if (answer.status >= 300) report.problems.push(`${name} came to ${answer.status}`)
    nonce = answer.json.nonce
    const moments = parseTrace(readFileSync(output, 'utf8'))
    report.shown.push(`${name}:`, ...show(moments))
    report.problems.push(...judge(moments).map((problem) => `${name}: ${problem}`))
  }
  await server.kill()
  return report
}

/** Faults by the calls they break; each must be answered 503. */
export const injections = {
  'the sync fails': 'inject=fsync,fdatasync:error=EIO',
  'the disk is full': 'inject=pwrite64:error=ENOSPC',
  'the write fails': 'inject=pwrite64:error=EIO',
}

/** Break the disk under a running server: writes are answered 503, reads go on, and it recovers by itself. */
export async function traceFaults(): Promise<TraceReport> {
  const { server, token, couponId } = await startMinting()
  const report: TraceReport = { shown: [], problems: [] }
  const expect = (claim: string, holds: boolean, detail: unknown) => {
    report.shown.push(`${holds ? 'yes' : 'NO '} ${claim}`)
    if (!holds) report.problems.push(`${claim}: ${JSON.stringify(detail)}`)
  }
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    call(server.url, `/api/coupons/${path}`, { body, headers })
  const bearer = { Authorization: `Bearer ${token}` }
  for (const [fault, injection] of Object.entries(injections)) {
    const { nonce } = await mintOne(server.url, token, couponId)
    const other = await mintOne(server.url, token, couponId)
    const again = { 'Idempotency-Key': newKey() }
    const tracer = await attach(server.pid, ['-f', '-e', injection, '-o', '/dev/null'])
    const broken = await Promise.all([
      post('mint', { couponId }, bearer),
      post('refresh', { nonce }, again),
      post('claim', { nonce: other.nonce }, again),
    ])
    for (const { status, json } of broken) {
      expect(`${fault}: a write is answered 503`, status === 503 && json?.code === 'unavailable', {
        status,
        json,
      })
    }
    const read = await post('preview', { nonce })
    const healthy = read.status === 200 && read.json.status === 'minted'
    expect(`${fault}: reads go on, and nothing has happened`, healthy, read.json)
    const alive = await call(server.url, '/livez')
    expect(`${fault}: it is alive`, alive.status === 200, alive.status)
    await tracer.detach()
    // After a try to mend the disk that failed it refuses for a second, or for longer on a busy machine.
    await until(
      `${fault}: a mint after it`,
      async () => (await post('mint', { couponId }, bearer)).status === 200,
    )
    const mended = await Promise.all([
      post('mint', { couponId }, bearer),
      post('refresh', { nonce }, again),
      post('claim', { nonce: other.nonce }, again),
    ])
    const statuses = mended.map(({ status }) => status)
    // On a slow disk a write whose sync failed may stand: then its retry is a repetition.
    const recovered = /^200,20[01],200$/.test(String(statuses))
    expect(`${fault}: it recovers by itself`, recovered, statuses)
    const repeated = await post('refresh', { nonce }, again)
    const same = repeated.status === 200 && repeated.text === mended[1]?.text
    expect(`${fault}: the retry is repeated byte for byte`, same, repeated.status)
  }
  if ((await server.stop()) !== 0) report.problems.push('the server did not end well')
  return report
}

async function startMinting() {
  const server: TestServer = await startServer({ env: { LOG_LEVEL: 'error' } })
  const token = await openSession(server.url, newSigner())
  const couponId = await createDefinition(server.url, token)
  // One request of each kind first, so that the trace shows a warm service.
  const { nonce } = await mintOne(server.url, token, couponId)
  await call(server.url, '/api/coupons/claim', { body: { nonce } })
  return { server, token, couponId }
}

/** Attach strace to a running process; resolves when it is attached. */
async function attach(pid: number, options: string[]) {
  const tracer = Bun.spawn(['strace', ...options, '-p', String(pid)], {
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
  })
  let said = ''
  const attached = Promise.withResolvers<void>()
  void (async () => {
    for await (const chunk of tracer.stderr) {
      said += new TextDecoder().decode(chunk)
      if (/Process \d+ attached/.test(said)) attached.resolve()
    }
    attached.reject(new Error(said || 'strace ended at once'))
  })()
  await attached.promise
  return {
    async detach() {
      // strace detaches, and the process goes on.
      tracer.kill('SIGINT')
      await tracer.exited
    },
  }
}

/**
 * The moments of a trace that matter. A call that another thread interrupted counts when it ended,
 * an answer when it began: the order found is never better than the real one. The log of the relay is none of the request:
 * its thread opens its database when the service has begun to answer.
 */
export function parseTrace(text: string): Moment[] {
  const unfinished = new Map<string, string>()
  const moments: Moment[] = []
  for (const [at, line] of text.split('\n').entries()) {
    const [, pid = '', rest = ''] = /^(\d+)\s+[\d.]+\s+(.*)$/.exec(line) ?? []
    if (rest.endsWith('<unfinished ...>')) {
      unfinished.set(pid, rest)
      if (isAnswer(rest)) moments.push({ what: 'answer', at, line })
      continue
    }
    const resumed = /^<\.\.\. \w+ resumed>/.test(rest)
    const begun = resumed ? (unfinished.get(pid) ?? '') : rest
    const ended = resumed ? `${begun} ${rest}` : rest
    if (/^(f(data)?sync|sync_file_range)\(.*\/cuponera\.db-wal>/.test(begun)) {
      if (/= 0$/.test(ended)) moments.push({ what: 'sync', at, line })
    } else if (/^p?writev?2?(64)?\(.*\/cuponera\.db-wal>/.test(begun)) {
      moments.push({ what: 'write', at, line })
    } else if (!resumed && isAnswer(begun)) {
      moments.push({ what: 'answer', at, line })
    }
  }
  return moments
}

function isAnswer(call: string): boolean {
  return /^(sendto|sendmsg|writev?)\(\d+<(TCP|socket)/.test(call) && call.includes('HTTP/1.1')
}

/** The errors in the order of a request's moments. */
export function judge(moments: Moment[]): string[] {
  const last = (what: Moment['what']) => moments.findLast((one) => one.what === what)?.at
  const [write, sync] = [last('write'), last('sync')]
  const answer = moments.find(({ what }) => what === 'answer')?.at
  if (write === undefined) return ['nothing was written to the log']
  if (sync === undefined) return ['the log was never synced']
  if (answer === undefined) return ['no answer was seen']
  const problems: string[] = []
  if (sync < write) problems.push('the last write came after the sync')
  if (answer < sync) problems.push('the answer left before the sync')
  if (answer < write) problems.push('the answer left before the last write')
  return problems
}

function show(moments: Moment[]): string[] {
  const writes = moments.filter(({ what }) => what === 'write').length
  const rest = moments.filter(({ what }) => what !== 'write')
  const short = ({ line }: Moment) => `  ${line.replace(/^\d+\s+/, '').slice(0, 110)}`
  return [`  ${writes} writes to the log, then`, ...rest.map(short)]
}

if (import.meta.main) {
  const reason = await whyNotTraceable()
  if (reason !== null) {
    console.log(reason)
    process.exit(2)
  }
  const reports = [await traceOrder(), await traceFaults()]
  await cleanUp()
  for (const line of reports.flatMap(({ shown }) => shown)) console.log(line)
  const problems = reports.flatMap((report) => report.problems)
  for (const problem of problems) console.log(`PROBLEM ${problem}`)
  console.log(`${problems.length} problems`)
  process.exit(problems.length === 0 ? 0 : 1)
}
