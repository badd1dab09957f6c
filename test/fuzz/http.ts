import { createHash } from 'node:crypto'
import { refusalCodes } from '../../src/base/refusal.ts'
import {
  call,
  createDefinition,
  createProof,
  type Json,
  newKey,
  newSigner,
  nostrHeader,
  openSession,
} from '../support/client.ts'
import { secondsNow } from '../support/clock.ts'
import { callRaw, sendBytes } from '../support/raw.ts'
import { startServer, type TestServer } from '../support/server.ts'
import type { Random } from './random.ts'
import { anyObject, anyText, anyValue, mutate, mutateText } from './values.ts'

/** The result of a run of strange requests. */
export type HttpFuzzReport = {
  requests: number
  /** How often each status was answered; 0 stands for a connection that was closed. */
  statuses: Record<number, number>
  /** Resident bytes of the server after the warm-up and at the end. */
  memory: { warm: number; end: number }
  problems: string[]
}

type Facts = {
  base: string
  signer: ReturnType<typeof newSigner>
  token: string
  couponId: string
  nonces: string[]
}

type Sent = { method: string; target: string; headers: [string, string][]; body?: string }

/** Far above any answer, even on a busy machine: it finds requests that hang. */
const answerMilliseconds = 20_000
/** A leak of a kilobyte a request exceeds this within a minute; the garbage collector does not. */
export const memoryGrowthMax = 48 * 2 ** 20
/** So many requests are sent at least, on a machine that has little time, too. */
export const requestsMin = 250
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']
const known = new Set<string>(refusalCodes)

/** Send strange requests for some seconds to a server of its own, and judge every answer. */
export async function fuzzHttp(random: Random, seconds: number): Promise<HttpFuzzReport> {
  const signer = newSigner()
  const env = {
    RATE_LIMIT: 'off',
    LOG_LEVEL: 'warn',
    MERCHANTS: signer.pubkey,
    IDENTITY_ISSUERS: signer.pubkey,
  }
  const server = await startServer({ env })
  const facts = await prepare(server, signer)
  const report: HttpFuzzReport = {
    requests: 0,
    statuses: {},
    memory: { warm: 0, end: 0 },
    problems: [],
  }
  const until = performance.now() + seconds * 1000
  const warmUntil = performance.now() + seconds * 400
  const lane = async () => {
    const goesOn = () => performance.now() < until || report.requests < requestsMin
    while (goesOn() && report.problems.length < 20) {
      await one(random, facts, report)
      if (report.memory.warm === 0 && performance.now() > warmUntil) {
        report.memory.warm = -1
        report.memory.warm = await residentBytes(server)
      }
    }
  }
  await Promise.all(Array.from({ length: 8 }, lane))
  report.memory.end = await residentBytes(server)
  report.problems.push(...faultsIn(server))
  const alive = await call(server.url, '/readyz')
  if (alive.status !== 200) report.problems.push(`afterwards /readyz says ${alive.status}`)
  if ((await server.stop()) !== 0) report.problems.push('the server did not end well')
  return report
}

async function prepare(server: TestServer, signer: Facts['signer']): Promise<Facts> {
  const token = await openSession(server.url, signer)
  const couponId = await createDefinition(server.url, token)
  const body = { couponId, count: 100 }
  const { json } = await call(server.url, '/api/coupons/mint', { body, token })
  const nonces = json.vouchers.map(({ nonce }: Json) => nonce)
  return { base: server.url, signer, token, couponId, nonces }
}

async function one(random: Random, facts: Facts, report: HttpFuzzReport): Promise<void> {
  const started = performance.now()
  const garbled = random.chance(0.1)
  const sent = strange(random, facts)
  const bytes = garbled ? garble(random, facts.base, sent) : null
  const text = bytes ? Buffer.from(bytes).toString('latin1') : sent
  const shown = `SEED=${random.seed} ${JSON.stringify(text).slice(0, 400)}`
  report.requests++
  try {
    const answer = bytes ? await sendBytes(facts.base, bytes) : await callRaw(facts.base, sent)
    const { status } = answer
    report.statuses[status] = (report.statuses[status] ?? 0) + 1
    const problem = judge(answer, sent, garbled)
    if (problem) report.problems.push(`${problem}: ${status} ${answer.text.slice(0, 200)} ${shown}`)
    learn(random, facts, answer.json)
  } catch (cause) {
    // Bytes that are no request may close the connection, but must not be left without an answer.
    const closed = garbled && cause instanceof Error && cause.message.includes('ended without')
    if (!closed) report.problems.push(`${String(cause)}: ${shown}`)
    report.statuses[0] = (report.statuses[0] ?? 0) + 1
  }
  const took = performance.now() - started
  if (took > answerMilliseconds) report.problems.push(`answered after ${took} ms: ${shown}`)
}

/** The error in an answer, or null. */
function judge(
  { status, headers, text, json }: Awaited<ReturnType<typeof callRaw>>,
  { method }: Sent,
  garbled: boolean,
): string | null {
  // A request that the HTTP parser refuses never reaches us, and its answer has no body.
  if (garbled && (status === 505 || text === '')) return null
  if (status >= 500) return 'a server error'
  // Bytes left over behind a request are answered as a second one.
  if (garbled) return null
  if (method === 'HEAD' || status === 204) return text === '' ? null : 'a body where none belongs'
  const type = headers.get('content-type') ?? ''
  if (status < 300 && type.startsWith('application/json') === (json === undefined)) {
    return 'not what its type says'
  }
  if (status < 300) return null
  const said = json?.error ?? json?.reason
  if (typeof said !== 'string' || !known.has(json.code)) return 'no envelope'
  return headers.get('access-control-allow-origin') === '*' ? null : 'no CORS'
}

/** New vouchers make later requests get further. */
function learn(random: Random, facts: Facts, json: Json): void {
  const fresh = [json?.nonce, json?.vouchers?.[0]?.nonce].filter((one) => typeof one === 'string')
  for (const nonce of fresh) facts.nonces[random.below(facts.nonces.length)] = nonce
}

/** A valid request with a few mutations. */
function strange(random: Random, facts: Facts): Sent {
  const valid = validRequest(random, facts)
  let { method, target } = valid
  let body = valid.body
  if (random.chance(0.5) && body !== undefined) body = mutate(random, body)
  if (random.chance(0.06)) method = random.pick([...methods, 'TRACE', 'PROPFIND', 'LINK'])
  if (random.chance(0.1)) target = mutateTarget(random, target)
  let text = body === undefined ? undefined : JSON.stringify(body)
  if (text !== undefined && random.chance(0.1)) text = mutateText(random, text)
  if (text !== undefined && random.chance(0.02)) text = '[{"a":'.repeat(2500)
  if (text === undefined && random.chance(0.1)) text = anyText(random)
  if (random.chance(0.01)) text = 'x'.repeat(16 * 1024 + random.below(100) - 50)
  const request: Sent = { method, target, headers: [] }
  if (text !== undefined) request.body = text
  request.headers = headersFor(random, facts, request, valid.access)
  return request
}

type Valid = { method: string; target: string; body?: unknown; access: 'public' | 'any' | 'signed' }

function validRequest(random: Random, facts: Facts): Valid {
  const { couponId } = facts
  const nonce = random.pick(facts.nonces)
  const benefit = random.pick([
    { type: 'percent', percent: 5 },
    { type: 'freeItems', items: [{ d: 'a', qty: 1 }] },
    { type: 'fixed', amount: 10, currency: 'ARS', cap: { amount: 5, currency: 'ARS' } },
  ])
  const purchase = { amount: random.pick([1, 10_000]), currency: 'ARS' }
  const window = { days: [1, 2, 3, 4, 5, 6, 7], from: '00:00', to: '12:00' }
  const rules = random.pick([
    null,
    { startsAt: 1_700_000_000, conditions: 'Sólo en efectivo' },
    { times: { timeZone: 'Asia/Kolkata', windows: [window] }, minimum: purchase },
  ])
  const fields = { name: 'Café', description: 'x', image: null, benefit, maxUses: null, rules }
  const zapRequest = facts.signer.sign({
    kind: 9734,
    created_at: 1_700_000_000,
    tags: [['coupon', couponId]],
    content: '',
  })
  const event = facts.signer.sign({
    kind: 30_078,
    created_at: 1_700_000_000 + random.below(1000),
    tags: [['d', 'lacrypta.merchant/coupons']],
    content: '{"v":2}',
  })
  const pubkey = createHash('sha256')
    .update(String(random.below(50)))
    .digest('hex')
  const invitation = String(random.below(100)).padStart(22, '-')
  const wallet = (type: string, content: object) =>
    facts.signer.sign({
      kind: 1112,
      created_at: secondsNow(),
      tags: [
        ['t', type],
        ['nonce', invitation],
      ],
      content: JSON.stringify(content),
    })
  const name = `n${random.below(30)}`
  const open = (method: string, target: string, body?: unknown): Valid =>
    body === undefined
      ? { method, target, access: 'public' }
      : { method, target, body, access: 'public' }
  return random.pick<Valid>([
    open('POST', '/api/nonce', wallet('create-nonce', {})),
    open('GET', `/api/nonce/${invitation}`),
    open('POST', '/api/identity', wallet('create-identity', { name, pubkey })),
    open('GET', `/api/identity?name=${name}`),
    open('GET', `/.well-known/nostr.json?name=${name}`),
    open('GET', `/.well-known/lnurlp/${name}`),
    open('GET', `/api/lud16/${name}/cb?amount=1000`),
    open('GET', `/api/pubkey/${pubkey}`),
    { method: 'GET', target: '/api/coupons/manager', access: 'public' },
    { method: 'POST', target: '/api/auth/session', body: {}, access: 'signed' },
    { method: 'GET', target: '/api/coupons', access: 'any' },
    { method: 'POST', target: '/api/coupons', body: fields, access: 'any' },
    { method: 'PATCH', target: `/api/coupons/${couponId}`, body: fields, access: 'any' },
    { method: 'DELETE', target: `/api/coupons/${crypto.randomUUID()}`, access: 'any' },
    { method: 'GET', target: `/api/coupons/${couponId}/mints?limit=20`, access: 'any' },
    { method: 'DELETE', target: `/api/coupons/${couponId}/mints/${nonce}`, access: 'any' },
    { method: 'DELETE', target: `/api/coupons/${couponId}/mints`, access: 'any' },
    { method: 'GET', target: '/api/coupons/mintable', access: 'any' },
    { method: 'GET', target: '/api/coupons/minters', access: 'any' },
    { method: 'POST', target: '/api/coupons/minters', body: { pubkey, label: 'x' }, access: 'any' },
    { method: 'DELETE', target: `/api/coupons/minters/${pubkey}`, access: 'any' },
    { method: 'PUT', target: '/api/coupons/discovery', body: { event }, access: 'any' },
    { method: 'DELETE', target: '/api/coupons/discovery', access: 'any' },
    { method: 'POST', target: '/api/coupons/mint', body: { couponId }, access: 'any' },
    { method: 'POST', target: '/api/coupons/mint', body: { couponId, count: 2 }, access: 'any' },
    { method: 'GET', target: `/api/coupons/claim?nonce=${nonce}`, access: 'public' },
    { method: 'POST', target: '/api/coupons/preview', body: { nonce }, access: 'public' },
    {
      method: 'POST',
      target: '/api/coupons/claim',
      body: { nonce, zapRequest, amountMsat: 1000, purchase },
      access: 'public',
    },
    { method: 'POST', target: '/api/coupons/refresh', body: { nonce }, access: 'public' },
    { method: 'GET', target: '/api/coupons/redemptions?limit=5', access: 'any' },
    { method: 'GET', target: '/metrics', access: 'public' },
    { method: 'GET', target: '/openapi.json', access: 'public' },
  ])
}

/** Visible ASCII only: anything else is no request line. */
function mutateTarget(random: Random, target: string): string {
  const tails = ['?limit=0', '?limit=501', '?limit=x', '?cursor=AAAA', '?chain=1', '?chain=2']
  const odd = ['%00', '%ff', '..', '//', '%2e%2e/', 'ñ', '?', '&', '#', '=', "'", '%', ':', '\\']
  const at = 1 + random.below(target.length)
  const mutated = random.pick([
    target + random.pick(tails),
    target.slice(0, at) + encodeURI(random.pick(odd)) + target.slice(at),
    target.slice(0, at),
    `${target}/`,
    target.toUpperCase(),
    `/${'a/'.repeat(random.below(500))}`,
    `${target}?nonce=${encodeURIComponent(String(anyValue(random, 0)).toWellFormed())}`,
  ])
  return mutated.replaceAll(/[^\x21-\x7e]/g, '')
}

function headersFor(
  random: Random,
  facts: Facts,
  request: Sent,
  access: Valid['access'],
): [string, string][] {
  const { method, target, body } = request
  const headers: [string, string][] = []
  const bearer = `Bearer ${facts.token}`
  const url = `${facts.base}${target}`
  const signed = () =>
    nostrHeader(createProof(facts.signer, url, { method, ...(body === undefined ? {} : { body }) }))
  if (access === 'any') headers.push(['Authorization', random.chance(0.6) ? bearer : signed()])
  if (access === 'signed') headers.push(['Authorization', signed()])
  if (access === 'public' && random.chance(0.1)) headers.push(['Authorization', bearer])
  const auth = headers[0]
  if (auth && random.chance(0.15)) {
    auth[1] = latin(
      random.pick([
        mutateText(random, auth[1]),
        'Nostr ',
        'Bearer',
        'Basic dXNlcjpwYXNz',
        `Nostr ${Buffer.from(JSON.stringify(anyObject(random))).toString('base64')}`,
        `Bearer ${'a.b.'.repeat(random.below(3000))}`,
        anyText(random),
      ]),
    )
  }
  if (target.includes('refresh') || random.chance(0.15)) headers.push(['Idempotency-Key', newKey()])
  if (random.chance(0.05)) headers.push(['Idempotency-Key', latin(anyText(random))])
  if (random.chance(0.2))
    headers.push(['Content-Type', latin(random.pick(['text/plain', 'x', '']))])
  if (random.chance(0.1)) headers.push(['X-Forwarded-For', latin(anyText(random))])
  if (random.chance(0.1)) headers.push(['Origin', 'https://evil.example'])
  return headers
}

/** One line of what a header may hold. */
function latin(text: string): string {
  return text.replaceAll(/[^\x20-\x7e\x80-\xff]/g, '').slice(0, 12_000)
}

/** Bytes that are barely HTTP. */
function garble(random: Random, base: string, { method, target, body }: Sent): Uint8Array {
  const head = `${method} ${target} HTTP/1.1\r\nHost: ${new URL(base).host}\r\nConnection: close\r\n`
  const text = body ?? ''
  const whole = `${head}Content-Length: ${text.length}\r\n\r\n${text}`
  const bytes = Buffer.from(whole, 'latin1')
  return random.pick<() => Uint8Array>([
    () => Buffer.concat([random.bytes(20 + random.below(300)), Buffer.from('\r\n\r\n')]),
    () => Buffer.from(`${mutateText(random, head)}\r\n\r\n`, 'latin1'),
    () => Buffer.from(`${head}Transfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n0\r\n\r\n`),
    () => Buffer.from(`${head}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`),
    () => Buffer.from(`${head}Content-Length: -5\r\n\r\n`),
    () => Buffer.from(`${head}Content-Length: 99999999999999999999\r\n\r\n`),
    () => Buffer.from(`${head}Content-Length: 3\r\nContent-Length: 5\r\n\r\nabcde`),
    () => Buffer.from(`${head}X: ${'y'.repeat(20_000)}\r\n\r\n`),
    () => Buffer.from(`${head}${'X-A: b\r\n'.repeat(500)}\r\n`),
    () => Buffer.concat([bytes, random.bytes(50)]),
    () => Buffer.from(whole.replace(/Host: [^\r]*/, `Host: ${latin(anyText(random))}`), 'latin1'),
    () => Buffer.from(whole.replace('1.1', '1.0').replace(/Host: [^\r]*\r\n/, ''), 'latin1'),
    () =>
      Buffer.from(
        whole.replace('HTTP/1.1', random.pick(['HTTP/1.0', 'HTTP/9.9', 'HTP'])),
        'latin1',
      ),
  ])()
}

async function residentBytes(server: TestServer): Promise<number> {
  const { text } = await call(server.url, '/metrics')
  return Number(/^process_resident_memory_bytes (\d+)/m.exec(text)?.[1])
}

function faultsIn(server: TestServer): string[] {
  const lines = server.output().split('\n')
  return lines.filter((line) => /"fault"|unhandled|uncaught|error:|panic/i.test(line)).slice(0, 5)
}
