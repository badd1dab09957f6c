import { randomBytes } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import {
  type Answer,
  call,
  createDefinition,
  type Json,
  newSigner,
  openSession,
  withKey,
} from '../support/client.ts'
import { createEvent } from '../support/events.ts'
import { connectRelay, type RelayClient } from '../support/relay-client.ts'
import { newDirectory, startServer, type TestServer } from '../support/server.ts'
import { until } from '../support/until.ts'
import { checkInvariants } from '../support/workload.ts'
import { Device, type Fault } from './disk-device.ts'
import {
  atEach,
  countFault,
  countOutcome,
  type DiskReport,
  type Numbers,
  newReport,
} from './disk-faults-report.ts'

/** One request of the workload. `again`: its status when it is repeated. */
type Step = {
  name: string
  send: () => Promise<{ status: number; text: string; json?: Json }>
  wanted: number
  again: number
  /** Its repetition is the same text. */
  same: boolean
  /** The log that its commit is in. */
  log: string
  /** True if its commit stands, for a store that does not tell of commits that fail. */
  stands?: () => Promise<boolean>
  /** The state of its voucher before and after. */
  states?: { nonce: string; before: string; after: string }
}

type World = {
  server: TestServer
  device: Device
  token: string
  couponId: string
  relay: RelayClient
  /** Successful steps, to be repeated at the end on the next process. */
  done: { step: Step; text: string }[]
}

/** No floor: the disk fails in spite of it. Besides requests only deliveries to the embedded relay write. */
const env = { RATE_LIMIT: 'off', DISK_FLOOR: '0' }

/** Requests of every kind on a running service, while its disk fails at each n-th call. */
export async function failService(numbers: Numbers): Promise<DiskReport> {
  const report = newReport()
  const dataDir = newDirectory()
  const device = new Device(dataDir)
  const world = await openWorld(dataDir, device)
  await atEach(device, numbers, (fault, name) => runRound(world, fault, name, report))
  await endWorld(world, report)
  return report
}

/** Commits while the fold of the WAL into the file fails at each n-th call: they are on disk, so they are answered. */
export async function failCheckpoints(numbers: Numbers): Promise<DiskReport> {
  const report = newReport()
  const dataDir = newDirectory()
  const device = new Device(dataDir)
  const world = await openWorld(dataDir, device)
  const { server, token, couponId } = world
  const mint = () =>
    call(server.url, '/api/coupons/mint', { body: { couponId, count: 50 }, token, ...withKey() })
  let minted = 0
  const take = async (name: string) => {
    const { status, text } = await mint()
    if (status === 200) minted += 50
    else report.problems.push(`${name}: a mint beside a checkpoint: ${status} ${text}`)
  }
  const fail = (match: string) => async (fault: Fault, name: string) => {
    // From one checkpoint to the next one lie a thousand pages.
    device.arm(fault, match)
    for (let mints = 0; mints < 60 && device.counted === 0; mints++) await take(name)
    if (device.failed > 0) {
      countFault(report, device.told)
      await take(name)
    }
    device.disarm()
    await take(name)
  }
  await atEach(device, numbers, fail('/cuponera.db$'))
  await atEach(
    device,
    { ...numbers, every: 1 },
    fail(`fsync ${realpathSync(dataDir)}/cuponera.db$`),
  )
  const { json } = await call(server.url, '/api/coupons', { token })
  const [known] = json.coupons.filter(({ id }: Json) => id === couponId)
  if (known.minted !== minted) report.problems.push(`${known.minted} are minted, not ${minted}`)
  countOutcome(report, `${minted} vouchers minted meanwhile, runs`)
  await endWorld(world, report)
  return report
}

async function openWorld(dataDir: string, device: Device): Promise<World> {
  const server = await startServer({ dataDir, env: { ...env, ...device.env } })
  const token = await openSession(server.url, newSigner())
  const couponId = await createDefinition(server.url, token)
  const relay = await connectRelay(server.url)
  return { server, device, token, couponId, relay, done: [] }
}

/** Kill the service and start it again: every answer is repeated, and the file is whole. */
async function endWorld(world: World, report: DiskReport): Promise<void> {
  const { server, done } = world
  const { dataDir } = server
  world.relay.close()
  await server.kill()
  const next = await startServer({ dataDir, env: { ...env, PORT: new URL(server.url).port } })
  world.server = next
  world.relay = await connectRelay(next.url)
  for (const { step, text } of done) {
    const again = await step.send()
    const held = again.status === step.again && (!step.same || again.text === text)
    if (!held) report.problems.push(`${step.name} after a kill: ${again.status} ${again.text}`)
  }
  world.relay.close()
  if ((await next.stop()) !== 0) report.problems.push('the service did not end well')
  report.problems.push(...checkInvariants(join(dataDir, 'cuponera.db')))
}

async function runRound(world: World, fault: Fault, name: string, report: DiskReport) {
  const { device, server } = world
  const steps = await makeSteps(world)
  const lasting = fault.last === Number.MAX_SAFE_INTEGER
  device.arm(fault)
  const broken: Step[] = []
  for (const step of steps) {
    // To be sure of a contradiction takes a wait. One is enough.
    if (report.problems.length > 0) break
    const [before, logs, said] = [device.failed, device.failedOnLog, server.output().length]
    const failedBefore = before > 0
    const { status, text, json } = await step.send()
    const failed = device.failed > before
    const problem = (what: string) =>
      report.problems.push(`${name}: ${step.name} ${what}: ${status} ${text.slice(0, 200)}`)
    if (status === step.wanted) {
      world.done.push({ step, text })
      countOutcome(report, 'answered')
      // The first call that fails may be one of a delivery to the relay, which has a log of its own.
      const foreign = !failedBefore && !device.told.endsWith(step.log)
      const stands = step.stands ?? (() => otherFailed(server, said))
      if (device.failedOnLog > logs && !foreign && !(await stands())) {
        problem('was answered, though its own commit failed')
      }
    } else {
      broken.push(step)
      countOutcome(report, 'refused')
      if (status !== 503 || json?.code !== 'unavailable') problem('is no 503')
      if (!failed) problem('was refused, though no call of it failed')
    }
    if (step.states && (await stateOf(server, step.states.nonce)) === undefined) {
      problem('cannot be read afterwards')
    }
  }
  if (lasting && device.failed > 0 && broken.length === 0) {
    report.problems.push(`${name}: a disk that fails for good refused nothing`)
  }
  if (device.failed > 0) countFault(report, device.told)
  device.disarm()
  for (const step of broken) await mend(world, step, name, report)
}

/** True if the commit was on disk, and only its fold or that of a delivery failed. `said`: the output before it. */
async function otherFailed(server: TestServer, said: number): Promise<boolean> {
  const count = (line: RegExp) => server.output().slice(said).match(line)?.length ?? 0
  const told = until('the lines about another failure', () => {
    const all = count(/"commit\.failed"/g)
    const folds = count(/"commit\.failed".*"operations":0\b/g)
    const single = count(/"commit\.failed".*"operations":1\b/g)
    const deliveries = Math.min(single, count(/"outbox\.failed"/g))
    return all > 0 && all === folds + deliveries
  })
  return told.then(
    () => true,
    () => false,
  )
}

/** After the fault: the operation happened or not, and a retry comes to one answer that stays. */
async function mend({ server, done }: World, step: Step, name: string, report: DiskReport) {
  const { states } = step
  const state = states && (await stateOf(server, states.nonce))
  if (states && state !== states.before && state !== states.after) {
    report.problems.push(`${name}: ${step.name} left its voucher ${state}`)
  }
  const first = await step.send()
  const fine = first.status === step.wanted || first.status === step.again
  if (!fine) report.problems.push(`${name}: ${step.name} again: ${first.status} ${first.text}`)
  if (states && (await stateOf(server, states.nonce)) !== states.after) {
    report.problems.push(`${name}: ${step.name} was answered and did not happen`)
  }
  done.push({ step, text: first.text })
}

async function stateOf(server: TestServer, nonce: string): Promise<string | undefined> {
  return (await call(server.url, '/api/coupons/preview', { body: { nonce } })).json?.status
}

async function makeSteps(world: World): Promise<Step[]> {
  const { token, couponId } = world
  const ask = (path: string, options: Parameters<typeof call>[2]): Promise<Answer> =>
    call(world.server.url, path, options)
  const { json } = await ask('/api/coupons/mint', { body: { couponId, count: 3 }, token })
  const [claimed, refreshed, voided]: string[] = json.vouchers.map(({ nonce }: Json) => nonce)
  const keyed = (path: string, body: unknown) => {
    const options = { ...withKey(), body, token }
    return () => ask(path, options)
  }
  const step = (name: string, send: Step['send'], wanted: number, more: Partial<Step> = {}) => ({
    ...{ name, send, wanted, again: wanted, same: true, log: '/cuponera.db-wal' },
    ...more,
  })
  const changes = (nonce = '', after = '') => ({ states: { nonce, before: 'minted', after } })
  const signer = newSigner()
  const event = createEvent()
  const note = createEvent({ content: randomBytes(3000).toString('hex') })
  const path = `/api/coupons/${couponId}/mints/${voided}`
  const definition = { name: 'Té', benefit: { type: 'percent', percent: 5 } }
  const session = () => ask('/api/auth/session', { method: 'POST', body: {}, signer })
  return [
    step('a session', session, 200, { same: false }),
    step('a definition', keyed('/api/coupons', definition), 201),
    step('a mint', keyed('/api/coupons/mint', { couponId }), 200),
    step('a mint of 20', keyed('/api/coupons/mint', { couponId, count: 20 }), 200),
    step(
      'a claim',
      keyed('/api/coupons/claim', { nonce: claimed }),
      200,
      changes(claimed, 'claimed'),
    ),
    step('a refresh', keyed('/api/coupons/refresh', { nonce: refreshed }), 201, {
      ...{ again: 200, ...changes(refreshed, 'refreshed') },
    }),
    step('a void', () => ask(path, { method: 'DELETE', token }), 200, {
      ...{ again: 409, same: false, ...changes(voided, 'voided') },
    }),
    step('an event to publish', () => ask('/nostr/publish', { body: event }), 202),
    step('an event of the relay', () => publish(world, note), 200, {
      ...{ same: false, log: '/relay.db-wal' },
      stands: async () => (await publish(world, note)).text.startsWith('duplicate:'),
    }),
  ]
}

/** The OK of the relay as an answer. */
async function publish(world: World, event: ReturnType<typeof createEvent>) {
  const [accepted, text] = await world.relay.publish(event)
  if (accepted) return { status: 200, text }
  const code = text.startsWith('error:') ? 'unavailable' : 'refused'
  return { status: 503, text, json: { code } }
}
