import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { controlPath, type Status } from '../../../src/app/control.ts'
import type { NostrEvent, Signer } from '../../../src/nostr/event.ts'
import { Random } from '../../fuzz/random.ts'
import {
  call,
  createProof,
  type Json,
  newSigner,
  nostrHeader,
  openSession,
  percentBenefit,
} from '../../support/client.ts'
import { secondsNow } from '../../support/clock.ts'
import { createEvent } from '../../support/events.ts'
import { connectRelay, type RelayClient } from '../../support/relay-client.ts'
import { startServer } from '../../support/server.ts'
import { Recording, tracing } from './trace.ts'

type Kind = 'define' | 'edit' | 'mint' | 'claim' | 'refresh' | 'void' | 'kill' | 'publish'

/** A request of a client that was answered, or an event that the relay accepted. */
export type Step = {
  /** As the recording names it. */
  id: string
  kind: Kind
  method: string
  path: string
  body: string
  /** Idempotency-Key. */
  key: string | null
  /** The NIP-98 event that it was signed with. */
  proof: string | null
  status: number
  text: string
  /** The coupon or the voucher that it was about. */
  about: string
  event?: NostrEvent
}

/** A client with coupons of its own that sends one request after the other. */
export type Lane = { signer: Signer; token: string; steps: Step[] }

/** The recorded life of a service, and all answers of it. */
export type Life = {
  recording: Recording
  /** The lanes before the restore, and those after it. */
  lanes: { before: Lane[]; after: Lane[] }
  /** The content of the key files, by name. */
  keys: Record<string, string>
}

export type LifeOptions = {
  seed: number
  /** The program: its arguments follow. */
  command: readonly string[]
  /** An empty directory. */
  directory: string
  /** Steps of each lane in each process. */
  steps: number
  lanes: number
}

/** Names below the recorded directory. */
export const dataName = 'data'
export const backupName = 'copy.cuponera'

const environment = { RATE_LIMIT: 'off', LOG_LEVEL: 'warn' }

/**
 * Record a service under mixed load: first start, backup, kill, recovery, a second backup over the first, clean stop,
 * restore, and one more start.
 */
export async function recordLife({
  seed,
  command,
  directory,
  steps,
  lanes,
}: LifeOptions): Promise<Life> {
  const root = join(directory, 'recorded')
  mkdirSync(root)
  const recording = new Recording(root)
  const dataDir = join(root, dataName)
  const backup = join(root, backupName)
  const random = new Random(seed)
  const newClients = () =>
    Array.from({ length: lanes }, () => new Client(new Random(random.below(2 ** 31))))
  const trace = join(directory, 'trace')

  async function serve(
    name: string,
    clients: Client[],
    order: { backup?: string; kill?: boolean },
  ) {
    const server = await startServer({
      ...{ dataDir, env: environment, command: tracing(trace, command) },
    })
    const socket = controlPath(dataDir)
    const { pid } = await askControl<Status>(socket, 'GET', 'status')
    await Promise.all(clients.map((client) => client.connect(server.url)))
    const [early, late] = order.backup ? [Math.ceil(steps / 2), Math.floor(steps / 2)] : [steps, 0]
    const run = (count: number) => Promise.all(clients.map((client) => client.run(count)))
    await run(early)
    // The backup runs beside the load.
    const copied = order.backup && askControl(socket, 'POST', 'backup', order.backup, backup)
    await Promise.all([run(late), copied])
    for (const client of clients) client.close()
    process.kill(pid, order.kill ? 'SIGKILL' : 'SIGTERM')
    await server.exited
    recording.add(name, trace)
    rmSync(trace)
  }

  const before = newClients()
  await serve('first', before, { backup: 'backup-1', kill: true })
  await serve('recovery', before, { backup: 'backup-2' })
  const restoring = [...tracing(trace, command), 'restore', backup, '--force']
  const restore = Bun.spawn(restoring, {
    env: { ...process.env, ...environment, DATA_DIR: dataDir },
    stdout: 'pipe',
    stderr: 'inherit',
  })
  await new Response(restore.stdout).text()
  if ((await restore.exited) !== 0) throw new Error('the restore failed')
  recording.add('restore', trace)
  rmSync(trace)
  const after = newClients()
  await serve('restored', after, {})
  const keys = Object.fromEntries(
    ['manager.nsec', 'store.key', 'session.secret', 'card.key'].map((name) => [
      name,
      readFileSync(join(dataDir, 'keys', name), 'utf8'),
    ]),
  )
  const lanesOf = (clients: Client[]) => clients.map(({ lane }) => lane)
  return { recording, lanes: { before: lanesOf(before), after: lanesOf(after) }, keys }
}

export async function askControl<T>(
  socket: string,
  method: string,
  command: string,
  step = command,
  file?: string,
): Promise<T> {
  const answer = await fetch(`http://control/${command}`, {
    method,
    unix: socket,
    headers: { 'X-Step': step },
    ...(file !== undefined && { body: JSON.stringify({ file, force: true }) }),
  })
  const { result, refused } = (await answer.json()) as { result: T; refused?: string }
  if (refused !== undefined) throw new Error(refused)
  return result
}

type Held = { nonce: string; couponId: string }

/** Sends the steps of a lane. */
class Client {
  readonly lane: Lane = { signer: newSigner(), token: '', steps: [] }
  readonly #random: Random
  readonly #coupons: string[] = []
  /** Vouchers that can be spent. */
  #open: Held[] = []
  #notes: NostrEvent[] = []
  #base = ''
  #relay: RelayClient | null = null
  #serial = 0

  constructor(random: Random) {
    this.#random = random
  }

  async connect(base: string): Promise<void> {
    this.#base = base
    this.lane.token = await openSession(base, this.lane.signer)
    this.#relay = await connectRelay(base)
  }

  close(): void {
    this.#relay?.close()
  }

  async run(count: number): Promise<void> {
    for (let sent = 0; sent < count; sent++) await this.#step()
  }

  #step(): Promise<void> {
    const roll = this.#random.next()
    if (this.#coupons.length === 0 || roll < 0.05) return this.#define()
    if (this.#open.length < 3 || roll < 0.2) return this.#mint(this.#random.chance(0.3) ? 3 : null)
    if (roll < 0.42) return this.#spend('claim')
    if (roll < 0.66) return this.#spend('refresh')
    if (roll < 0.72) return this.#void()
    if (roll < 0.74) return this.#kill()
    if (roll < 0.78) return this.#edit()
    return this.#publish()
  }

  async #define(): Promise<void> {
    const body = { name: `cupón ${this.#random.below(1000)}`, benefit: percentBenefit }
    const { coupon } = await this.#manage('define', 'POST', '/api/coupons', body, '')
    this.#coupons.push(coupon.id)
  }

  async #edit(): Promise<void> {
    const id = this.#random.pick(this.#coupons)
    const body = { name: `otro cupón ${this.#random.below(1000)}` }
    await this.#manage('edit', 'PATCH', `/api/coupons/${id}`, body, id)
  }

  async #mint(count: number | null): Promise<void> {
    const couponId = this.#random.pick(this.#coupons)
    const body = count === null ? { couponId } : { couponId, count }
    const json = await this.#manage('mint', 'POST', '/api/coupons/mint', body, couponId)
    const made: { nonce: string }[] = count === null ? [json] : json.vouchers
    this.#open.push(...made.map(({ nonce }) => ({ nonce, couponId })))
  }

  async #spend(kind: 'claim' | 'refresh'): Promise<void> {
    const { nonce, couponId } = this.#take()
    const keyed = kind === 'refresh' || this.#random.chance(0.3)
    const key = keyed ? this.#newKey() : null
    const path = `/api/coupons/${kind}`
    const json = await this.#send({ kind, method: 'POST', path, about: nonce, key }, { nonce })
    if (kind === 'refresh') this.#open.push({ nonce: json.nonce, couponId })
  }

  async #void(): Promise<void> {
    const { nonce, couponId } = this.#take()
    const path = `/api/coupons/${couponId}/mints/${nonce}`
    await this.#manage('void', 'DELETE', path, undefined, nonce)
  }

  async #kill(): Promise<void> {
    const couponId = this.#random.pick(this.#coupons)
    this.#open = this.#open.filter((one) => one.couponId !== couponId)
    await this.#manage('kill', 'DELETE', `/api/coupons/${couponId}/mints`, undefined, couponId)
  }

  /** A note, a newer version of a list, or the deletion of a note. */
  async #publish(): Promise<void> {
    const roll = this.#random.next()
    const gone = roll < 0.2 ? this.#notes.pop() : undefined
    const shape = gone
      ? { kind: 5, tags: [['e', gone.id]] }
      : roll < 0.6
        ? { kind: 1 }
        : { kind: 30_000, tags: [['d', 'lista']] }
    const createdAt = secondsNow() - 10_000 + this.#serial++
    const event = createEvent({ ...shape, signer: this.lane.signer, createdAt })
    const [accepted, message] = (await this.#relay?.publish(event)) ?? [false, 'not connected']
    if (!accepted) throw new Error(`the relay refused an event: ${message}`)
    if (event.kind === 1) this.#notes.push(event)
    this.lane.steps.push({
      ...{ id: event.id, kind: 'publish', method: '', path: '', body: '', key: null },
      ...{ proof: null, status: 200, text: '', about: '', event },
    })
  }

  /** A request of the merchant: by session or by signature, with or without an Idempotency-Key. */
  #manage(kind: Kind, method: string, path: string, body: unknown, about: string): Promise<Json> {
    const mayRepeat = kind === 'define' || kind === 'mint'
    const key = mayRepeat && this.#random.chance(0.4) ? this.#newKey() : null
    const signed = this.#random.chance(0.3) ? this.lane.signer : null
    return this.#send({ kind, method, path, about, key, signed }, body)
  }

  async #send(
    asked: Pick<Step, 'kind' | 'method' | 'path' | 'about' | 'key'> & { signed?: Signer | null },
    value: unknown,
  ): Promise<Json> {
    const { signed, ...about } = asked
    const { method, path, key } = about
    const id = crypto.randomUUID()
    const body = value === undefined ? '' : JSON.stringify(value)
    const bytes = body === '' ? {} : { body }
    const proof = signed ? createProof(signed, `${this.#base}${path}`, { method, ...bytes }) : null
    const free = asked.kind === 'claim' || asked.kind === 'refresh'
    const headers = {
      'X-Step': id,
      ...(key !== null && { 'Idempotency-Key': key }),
      ...(proof && { Authorization: nostrHeader(proof) }),
      ...(!proof && !free && { Authorization: `Bearer ${this.lane.token}` }),
    }
    const { status, text, json } = await call(this.#base, path, { method, ...bytes, headers })
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`)
    this.lane.steps.push({ ...about, id, body, proof: proof?.id ?? null, status, text })
    return json
  }

  #take(): Held {
    const [taken] = this.#open.splice(this.#random.below(this.#open.length), 1)
    if (!taken) throw new Error('no voucher is left')
    return taken
  }

  #newKey(): string {
    return `llave-${crypto.randomUUID()}`
  }
}
