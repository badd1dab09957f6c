import { Database as Sqlite } from 'bun:sqlite'
import { join } from 'node:path'
import type { Signer } from '../../src/nostr/event.ts'
import { Random } from '../fuzz/random.ts'
import {
  type Answer,
  type CallOptions,
  call,
  createProof,
  type Json,
  newSigner,
  nostrHeader,
  openSession,
  percentBenefit,
} from './client.ts'
import { databaseOf, onFile } from './database.ts'
import { inLanes } from './lanes.ts'
import { until } from './until.ts'

type Status = 'minted' | 'claimed' | 'refreshed' | 'voided'

/** The possible states of a voucher after the answers that a client got. */
export type KnownVoucher = {
  couponId: string
  /** More than one while an answer never came. */
  may: Status[]
  claim?: { claimedAt: number; eventId: string }
  refresh?: { key: string; text: string }
}

/** A request as it was sent, to be sent again. */
export type SentRequest = {
  path: string
  method: string
  body: string
  headers: Record<string, string>
}

/** All answers that a client got from a server under load, and its requests without an answer. */
export type Memory = {
  token: string
  vouchers: Record<string, KnownVoucher>
  definitions: string[]
  /** NIP-98 requests that were answered, whatever with: their events are used up. */
  proofs: SentRequest[]
  /** Answers earned under an Idempotency-Key. */
  kept: (SentRequest & { status: number; text: string })[]
  /** Sent under an Idempotency-Key and never answered. */
  unheard: SentRequest[]
  acknowledged: number
  /** Answers that no server should give. */
  problems: string[]
  /** Every text that must be in no file and no log. */
  secrets: string[]
}

/** One client under load: some lanes of mixed requests on its own coupons, remembering every answer. */
export class Workload {
  readonly memory: Memory = {
    token: '',
    vouchers: {},
    definitions: [],
    proofs: [],
    kept: [],
    unheard: [],
    acknowledged: 0,
    problems: [],
    secrets: [],
  }
  readonly #bases: () => readonly string[]
  readonly #origin: string | undefined
  readonly #random: Random
  readonly #signer: Signer = newSigner()
  /** Nonces that no lane holds at the moment and that were alive when last heard of. */
  readonly #free: string[] = []
  readonly #kills = new Map<string, { started: number; running: number }>()
  readonly #patient: boolean
  #stopped = false
  #keys = 0

  /**
   * `bases`: each request goes to one of them. `patient`: it goes on when the server does not answer, or answers that
   * its database is away. `origin`: signatures are for it, and not for the base.
   */
  constructor(
    bases: string | (() => readonly string[]),
    seed: number,
    { patient = false, origin }: { patient?: boolean; origin?: string } = {},
  ) {
    this.#bases = typeof bases === 'string' ? () => [bases] : bases
    this.#origin = origin
    this.#random = new Random(seed)
    this.#patient = patient
  }

  /** Open a session and define a first coupon. */
  async prepare(): Promise<void> {
    this.memory.token = await openSession(this.#pickBase(), this.#signer, this.#origin)
    this.memory.secrets.push(this.memory.token)
    await this.#define()
  }

  /** Run until stopped, or until the server does not answer any more. */
  async run(lanes: number): Promise<Memory> {
    await Promise.all(Array.from({ length: lanes }, () => this.#lane()))
    return this.memory
  }

  /** Resolves when so many requests were answered. */
  async reach(acknowledged: number): Promise<void> {
    await until('so many are answered', () => this.memory.acknowledged >= acknowledged)
  }

  stop(): void {
    this.#stopped = true
  }

  async #lane(): Promise<void> {
    while (!this.#stopped) {
      try {
        await this.#step()
      } catch (cause) {
        // Connection refused, reset, or an answer cut short: the server is gone.
        if (!(cause instanceof Error)) throw cause
        if (!this.#patient) return
        await Bun.sleep(50)
      }
    }
  }

  #step(): Promise<void> {
    const roll = this.#random.next()
    if (this.#free.length < 4 || roll < 0.2) return this.#mint(null)
    if (roll < 0.26) return this.#mint(5)
    if (roll < 0.44) return this.#claim()
    if (roll < 0.68) return this.#refresh()
    if (roll < 0.74) return this.#void()
    if (roll < 0.75) return this.#kill()
    if (roll < 0.79) return this.#define()
    if (roll < 0.84) return this.#refused()
    if (roll < 0.92) return this.#preview()
    return this.#look()
  }

  async #define(): Promise<void> {
    const fields = { name: `cupón ${this.#random.below(1000)}`, benefit: percentBenefit }
    const { json } = await this.#manage('/api/coupons', fields, [201])
    this.memory.definitions.push(json.coupon.id)
    this.#kills.set(json.coupon.id, { started: 0, running: 0 })
  }

  async #mint(count: number | null): Promise<void> {
    const couponId = this.#random.pick(this.memory.definitions)
    const killed = this.#watchKills(couponId)
    const body = count === null ? { couponId } : { couponId, count }
    const { json } = await this.#manage('/api/coupons/mint', body, [200])
    for (const { nonce } of count === null ? [json] : json.vouchers) {
      this.#learn(nonce, couponId, killed())
    }
  }

  async #claim(): Promise<void> {
    const taken = this.#take()
    if (!taken) return
    const { nonce, voucher } = taken
    voucher.may.push('claimed')
    const key = this.#random.chance(0.3) ? this.#newKey() : null
    const answer = await this.#send('/api/coupons/claim', { nonce }, key, [200, 410])
    if (answer.status === 410) return this.#ended(voucher, 'voided')
    voucher.may = ['claimed']
    voucher.claim = { claimedAt: answer.json.claimedAt, eventId: answer.json.voucher.id }
  }

  async #refresh(): Promise<void> {
    const taken = this.#take()
    if (!taken) return
    const { nonce, voucher } = taken
    voucher.may.push('refreshed')
    const key = this.#newKey()
    const killed = this.#watchKills(voucher.couponId)
    const answer = await this.#send('/api/coupons/refresh', { nonce }, key, [201, 410])
    if (answer.status === 410) return this.#ended(voucher, 'voided')
    voucher.may = ['refreshed']
    voucher.refresh = { key, text: answer.text }
    this.#learn(answer.json.nonce, voucher.couponId, killed())
  }

  async #void(): Promise<void> {
    const taken = this.#take()
    if (!taken) return
    const { nonce, voucher } = taken
    voucher.may.push('voided')
    const path = `/api/coupons/${voucher.couponId}/mints/${nonce}`
    await this.#ask(path, { method: 'DELETE', token: this.memory.token }, [200, 409])
    voucher.may = ['voided']
  }

  /** The kill switch; actions of other lanes on that coupon's vouchers may come before or after. */
  async #kill(): Promise<void> {
    const couponId = this.#random.pick(this.memory.definitions)
    const kills = this.#kills.get(couponId)
    if (!kills) return
    const before = Object.values(this.memory.vouchers).filter((one) => one.couponId === couponId)
    const open = before.filter((one) => one.may.includes('minted'))
    for (const one of open) if (!one.may.includes('voided')) one.may.push('voided')
    kills.started++
    kills.running++
    const path = `/api/coupons/${couponId}/mints`
    await this.#ask(path, { method: 'DELETE', token: this.memory.token }, [200])
    kills.running--
    for (const one of open) one.may = one.may.filter((status) => status !== 'minted')
  }

  /** A refusal uses a NIP-98 event up as well. */
  async #refused(): Promise<void> {
    const unknown = Buffer.from(this.#random.bytes(16)).toString('base64url')
    this.memory.secrets.push(unknown)
    if (this.#random.chance(0.5)) {
      await this.#send('/api/coupons/claim', { nonce: unknown }, null, [404])
      return
    }
    const couponId = crypto.randomUUID()
    const body = JSON.stringify({ couponId })
    await this.#signed({ path: '/api/coupons/mint', method: 'POST', body, headers: {} }, [404])
  }

  async #preview(): Promise<void> {
    const nonces = Object.keys(this.memory.vouchers)
    const nonce = this.#random.pick(nonces)
    await this.#send('/api/coupons/preview', { nonce }, null, [200])
  }

  async #look(): Promise<void> {
    const couponId = this.#random.pick(this.memory.definitions)
    const lists = ['/api/coupons', '/api/coupons/mintable', `/api/coupons/${couponId}/mints`]
    const path = this.#random.pick([...lists, '/api/coupons/redemptions?limit=5'])
    await this.#signed({ path, method: 'GET', body: '', headers: {} }, [200])
  }

  /** A request of the merchant: by session or by signature, with or without an Idempotency-Key. */
  async #manage(path: string, body: unknown, wanted: number[]): Promise<Answer> {
    if (this.#random.chance(0.25)) {
      return this.#signed({ path, method: 'POST', body: JSON.stringify(body), headers: {} }, wanted)
    }
    const key = this.#random.chance(0.4) ? this.#newKey() : null
    return this.#send(path, body, key, wanted, { Authorization: `Bearer ${this.memory.token}` })
  }

  async #send(
    path: string,
    body: unknown,
    key: string | null,
    wanted: number[],
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const text = JSON.stringify(body)
    const sent = { path, method: 'POST', body: text, headers: { ...headers } }
    if (key === null) return this.#ask(path, sent, wanted)
    sent.headers['Idempotency-Key'] = key
    this.memory.unheard.push(sent)
    const answer = await this.#ask(path, sent, wanted)
    this.memory.unheard.splice(this.memory.unheard.indexOf(sent), 1)
    const { status, text: answered } = answer
    if (status < 300) this.memory.kept.push({ ...sent, status, text: answered })
    return answer
  }

  async #signed(request: SentRequest, wanted: number[]): Promise<Answer> {
    const { path, method, body } = request
    const base = this.#pickBase()
    const proof = createProof(this.#signer, `${this.#origin ?? base}${path}`, { method, body })
    const header = nostrHeader(proof)
    this.memory.secrets.push(header.slice('Nostr '.length))
    const sent = { ...request, headers: { ...request.headers, Authorization: header } }
    const answer = await this.#ask(path, sendable(sent), wanted, base)
    this.memory.proofs.push(sent)
    return answer
  }

  #pickBase(): string {
    return this.#random.pick(this.#bases())
  }

  async #ask(
    path: string,
    options: CallOptions,
    wanted: number[],
    base = this.#pickBase(),
  ): Promise<Answer> {
    const answer = await call(base, path, options)
    if (!wanted.includes(answer.status)) {
      const { status, text } = answer
      // While it shuts down a server says so; then this lane is done.
      const away = this.#patient || answer.json?.code === 'shutting-down'
      if (status === 503 && away) throw new Error('no answer')
      this.memory.problems.push(`${options.method} ${path}: ${status} ${text.slice(0, 200)}`)
      throw new Error('an answer nobody wanted')
    }
    this.memory.acknowledged++
    return answer
  }

  #take(): { nonce: string; voucher: KnownVoucher } | null {
    const [nonce] = this.#free.splice(this.#random.below(this.#free.length), 1)
    const voucher = nonce === undefined ? undefined : this.memory.vouchers[nonce]
    return nonce === undefined || !voucher ? null : { nonce, voucher }
  }

  #learn(nonce: string, couponId: string, killed: boolean): void {
    this.memory.vouchers[nonce] = { couponId, may: killed ? ['minted', 'voided'] : ['minted'] }
    this.memory.secrets.push(nonce)
    this.#free.push(nonce)
  }

  #ended(voucher: KnownVoucher, status: Status): void {
    if (!voucher.may.includes(status)) this.memory.problems.push(`a voucher ended as ${status}`)
    voucher.may = [status]
  }

  /** True, once called, when a kill of that coupon ran at some moment since. */
  #watchKills(couponId: string): () => boolean {
    const kills = this.#kills.get(couponId) ?? { started: 0, running: 0 }
    const { started, running } = kills
    return () => running > 0 || kills.started !== started
  }

  #newKey(): string {
    const key = `llave-${this.#random.seed}-${this.#keys++}-${crypto.randomUUID()}`
    this.memory.secrets.push(key)
    return key
  }
}

/** A request without body must not be sent with an empty one: its signature would be of another. */
function sendable({ method, body, headers }: SentRequest): CallOptions {
  return body === '' ? { method, headers } : { method, headers, body }
}

/** Ask a server about everything that an earlier process of it answered; the broken promises. */
export async function verifyMemory(base: string, memory: Memory): Promise<string[]> {
  const problems = [...memory.problems]
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    call(base, path, { body, headers })
  const check = (claim: string, holds: boolean, detail: unknown) => {
    if (!holds) problems.push(`${claim}: ${JSON.stringify(detail).slice(0, 300)}`)
  }
  // First what has a window: an event that was used stays used.
  await inLanes(memory.proofs, async (sent) => {
    const { status, json } = await call(base, sent.path, sendable(sent))
    const held = status === 401 && json.reason === 'replay'
    check('a used NIP-98 event was accepted again', held, { status, json })
  })
  await inLanes(Object.entries(memory.vouchers), async ([nonce, known]) => {
    const { status, json } = await post('/api/coupons/preview', { nonce })
    const held = status === 200 && known.may.includes(json.status)
    check('a voucher is not what was answered', held, { status, json, known })
    if (known.claim) {
      const again = await post('/api/coupons/claim', { nonce })
      const { claimedAt, eventId } = known.claim
      const same = again.json.claimedAt === claimedAt && again.json.voucher?.id === eventId
      check('a claim is not the one that was answered', same && again.status === 200, again.json)
    }
    if (known.refresh) {
      const { key, text } = known.refresh
      const again = await post('/api/coupons/refresh', { nonce }, { 'Idempotency-Key': key })
      const same = again.status === 200 && again.text === text
      check('a refresh does not repeat its answer', same, { status: again.status, json })
    }
  })
  await inLanes(memory.kept, async (sent) => {
    const again = await call(base, sent.path, sendable(sent))
    const status = sent.path.endsWith('/refresh') ? 200 : sent.status
    check('an answer is not repeated', again.status === status && again.text === sent.text, {
      sent: sent.path,
      status: again.status,
      text: again.text,
    })
  })
  // These may have happened or not: a repetition with the same key gets one answer.
  await inLanes(memory.unheard, async (sent) => {
    const once = await call(base, sent.path, sendable(sent))
    const twice = await call(base, sent.path, sendable(sent))
    const fine = once.status < 300 ? twice.text === once.text : once.status === 410
    check('a retry comes to nothing', fine, { sent: sent.path, once: once.json, twice: twice.json })
  })
  const { json } = await call(base, '/api/coupons', { token: memory.token })
  const ids = new Set((json.coupons as Json[]).map(({ id }) => id))
  const missing = memory.definitions.filter((id) => !ids.has(id))
  check('definitions are gone', missing.length === 0, missing)
  return problems
}

/** A worker has started once it has so many answers: a kill before that would prove nothing. */
const startedAnswers = 20

/** A workload in a process of its own. */
export type Worker = {
  /** It has its session, and its lanes are answered. */
  started: Promise<void>
  stop(): void
  /** Its memory, once its lanes have ended; then the process ends too. */
  memory: Promise<Memory>
  kill(): Promise<void>
}

type Order = { base: string; lanes: number; seed: number }
type Report = { event: 'started' } | { event: 'done'; memory: Memory }

/** Start a workload in a process of its own. */
export function startWorker(order: Order): Worker {
  const started = Promise.withResolvers<void>()
  const memory = Promise.withResolvers<Memory>()
  const child = Bun.spawn([process.execPath, import.meta.path], {
    stdio: ['ignore', 'inherit', 'inherit'],
    ipc(report: Report, child) {
      if (report.event === 'started') started.resolve()
      else {
        memory.resolve(report.memory)
        child.kill()
      }
    },
    onExit(_, code) {
      const cause = new Error(`a worker ended with ${code}`)
      started.reject(cause)
      memory.reject(cause)
    },
  })
  // A waiting caller gets the rejection; without one it is ignored.
  started.promise.catch(() => undefined)
  memory.promise.catch(() => undefined)
  child.send(order)
  return {
    started: started.promise,
    stop: () => child.send('stop'),
    memory: memory.promise,
    async kill() {
      child.kill('SIGKILL')
      await child.exited
    },
  }
}

if (import.meta.main) {
  let workload: Workload | null = null
  const tell = (report: Report) => process.send?.(report)
  const begin = async ({ base, lanes, seed }: Order) => {
    workload = new Workload(base, seed)
    await workload.prepare()
    const memory = workload.run(lanes)
    await workload.reach(startedAnswers)
    tell({ event: 'started' })
    tell({ event: 'done', memory: await memory })
  }
  process.on('disconnect', () => process.exit(0))
  process.on('message', (message: Order | 'stop') => {
    if (message === 'stop') return workload?.stop()
    begin(message).catch((cause) => {
      console.error(cause)
      process.exit(1)
    })
  })
}

const invariants: Record<string, string> = {
  'issued counts the vouchers first minted': `
    SELECT d.id FROM definitions d WHERE d.issued <>
      (SELECT count(*) FROM vouchers v WHERE v.definition_id = d.id AND v.root_id IS NULL)`,
  'claimed counts the claimed vouchers': `
    SELECT d.id FROM definitions d WHERE d.claimed <>
      (SELECT count(*) FROM vouchers v WHERE v.definition_id = d.id AND v.phase = 'claimed')`,
  'voided counts the voided vouchers, marked or not': `
    SELECT d.id FROM definitions d WHERE d.voided <>
      (SELECT count(*) FROM vouchers v WHERE v.definition_id = d.id AND (v.phase = 'voided'
        OR v.phase = 'minted' AND EXISTS (SELECT 1 FROM kills k
          WHERE k.definition_id = d.id AND k.upto_voucher_id >= v.id)))`,
  'issued is open, claimed and voided together': `
    SELECT d.id FROM definitions d WHERE d.issued - d.claimed - d.voided <>
      (SELECT count(*) FROM vouchers v WHERE v.definition_id = d.id AND v.phase = 'minted'
        AND NOT EXISTS (SELECT 1 FROM kills k
          WHERE k.definition_id = d.id AND k.upto_voucher_id >= v.id))`,
  'every chain has exactly one end': `
    SELECT coalesce(root_id, id) FROM vouchers GROUP BY coalesce(root_id, id) HAVING count(*) FILTER (WHERE phase <> 'refreshed') <> 1`,
  'every refreshed voucher has its record, its successor and its chain': `
    SELECT v.id FROM vouchers v LEFT JOIN refreshes r ON r.voucher_id = v.id
      LEFT JOIN vouchers s ON s.id = r.id
    WHERE (v.phase = 'refreshed') <> (r.id IS NOT NULL)
      OR (r.id IS NOT NULL AND (s.id IS NULL OR s.root_id <> coalesce(v.root_id, v.id)
        OR s.definition_id <> v.definition_id OR s.revision_id <> v.revision_id))`,
  'every successor was burned for': `
    SELECT v.id FROM vouchers v WHERE v.root_id IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM refreshes r WHERE r.id = v.id)`,
  'every claimed voucher has one redemption, and no other has': `
    SELECT v.id FROM vouchers v LEFT JOIN redemptions x ON x.voucher_id = v.id
    WHERE (v.phase = 'claimed') <> (x.id IS NOT NULL)`,
  'the totals agree with the rows': `
    SELECT id FROM totals WHERE issued <> (SELECT coalesce(sum(issued), 0) FROM definitions)
      OR claimed <> (SELECT coalesce(sum(claimed), 0) FROM definitions)
      OR voided <> (SELECT coalesce(sum(voided), 0) FROM definitions)
      OR refreshed <> (SELECT count(*) FROM refreshes)`,
  'foreign keys hold': 'PRAGMA foreign_key_check',
  'the file is whole': `SELECT integrity_check FROM pragma_integrity_check
    WHERE integrity_check <> 'ok'`,
}

/** Invariants in words that both engines know. */
export const commonInvariants = Object.entries(invariants).filter(([, sql]) => !/pragma/i.test(sql))

/** Check the invariants of a coupon database; the broken ones, with rows. */
export function checkInvariants(path: string): string[] {
  const connection = new Sqlite(path)
  const problems = Object.entries(invariants).flatMap(([claim, sql]) => {
    const rows = connection.query(sql).all()
    return rows.length === 0 ? [] : [`${claim}: ${JSON.stringify(rows.slice(0, 5))}`]
  })
  connection.close()
  return problems
}

/** The broken invariants of a service that has ended; on PostgreSQL, what the check of its database finds. */
export async function problemsIn(dataDir: string): Promise<string[]> {
  if (!onFile) return databaseOf(dataDir).problems()
  return checkInvariants(join(dataDir, 'cuponera.db'))
}
