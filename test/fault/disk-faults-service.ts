import { randomBytes } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { limits } from '../../src/base/limits.ts'
import {
  type Answer,
  call,
  createDefinition,
  type Json,
  mintOne,
  newSigner,
  openSession,
  withKey,
} from '../support/client.ts'
import { createEvent } from '../support/events.ts'
import { program, shortLogProgram } from '../support/program.ts'
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

type Sent = { status: number; text: string; json?: Json; headers?: Headers }

/** One request of the workload. `again`: its status when it is repeated. */
type Step = {
  name: string
  send: () => Promise<Sent>
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

/** No floor: the disk fails in spite of it. Besides requests, deliveries to the embedded relay and sweeps write. */
const env = { RATE_LIMIT: 'off', DISK_FLOOR: '0' }

/** Requests of every kind on a running service, while its disk fails at each n-th call. `syncMs`: as `Device.slow`. */
export async function failService(numbers: Numbers, syncMs = 0): Promise<DiskReport> {
  const report = newReport()
  const dataDir = newDirectory()
  const device = new Device(dataDir)
  const world = await openWorld(dataDir, device, syncMs)
  const fail = (match: string) => (fault: Fault, name: string) =>
    runRound(world, fault, `${name} of ${match || 'all'}`, { report, match })
  await atEach(device, numbers, fail(''))
  if (syncMs > 0) {
    // Those of commits in another thread are few among all calls.
    const syncs = `fdatasync ${realpathSync(dataDir)}/cuponera.db-wal$`
    await atEach(device, { ...numbers, every: Math.ceil(numbers.every / 9) }, fail(syncs))
  }
  await endWorld(world, report)
  return report
}

/**
 * Commits while the fold of the WAL into the file fails at each n-th call: they are on disk, so they are answered. The log is
 * short, since that of each failed fold stays.
 */
export async function failCheckpoints(numbers: Numbers, syncMs = 0): Promise<DiskReport> {
  const report = newReport()
  const dataDir = newDirectory()
  const device = new Device(dataDir)
  const world = await openWorld(dataDir, device, syncMs, shortLogProgram)
  const { server, token, couponId } = world
  const count = 100
  const mint = () =>
    call(server.url, '/api/coupons/mint', { body: { couponId, count }, token, ...withKey() })
  let minted: number = limits.asideCommits
  const take = async (name: string) => {
    const { status, text } = await mint()
    if (status === 200) minted += count
    else report.problems.push(`${name}: a mint beside a checkpoint: ${status} ${text}`)
  }
  const fail = (match: string) => async (fault: Fault, name: string) => {
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
  await atEach(device, { ...numbers, every: 1 }, fail(`sync ${realpathSync(dataDir)}/cuponera.db$`))
  const { json } = await call(server.url, '/api/coupons', { token })
  const [known] = json.coupons.filter(({ id }: Json) => id === couponId)
  if (known.minted !== minted) report.problems.push(`${known.minted} are minted, not ${minted}`)
  countOutcome(report, `${minted} vouchers minted meanwhile, runs`)
  await endWorld(world, report)
  return report
}

async function openWorld(
  dataDir: string,
  device: Device,
  syncMs: number,
  command = program,
): Promise<World> {
  device.slow(syncMs)
  const server = await startServer({ dataDir, command, env: { ...env, ...device.env } })
  const token = await openSession(server.url, newSigner())
  const couponId = await createDefinition(server.url, token)
  // Now it knows how slow its disk is.
  for (let commit = 0; commit < limits.asideCommits; commit++) {
    await mintOne(server.url, token, couponId)
  }
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

async function runRound(
  world: World,
  fault: Fault,
  name: string,
  { report, match }: { report: DiskReport; match: string },
) {
  const { device, server } = world
  const { steps, last } = await makeSteps(world)
  const lasting = fault.last === Number.MAX_SAFE_INTEGER
  device.arm(fault, match)
  const broken: Step[] = []
  for (const step of steps) {
    // To be sure of a contradiction takes a wait. One is enough.
    if (report.problems.length > 0) break
    const [before, logs, said] = [device.failed, device.failedOnLog, server.output().length]
    const failedBefore = before > 0
    const sent = await step.send()
    const { status, text, json } = sent
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
        const lines =
          server
            .output()
            .slice(said)
            .match(/^.*failed.*$/gm) ?? []
        problem(
          `was answered, though its own commit failed (${device.told} first; ${lines.join('; ')})`,
        )
      }
    } else {
      broken.push(step)
      countOutcome(report, 'refused')
      if (status !== 503 || json?.code !== 'unavailable') problem('is no 503')
      if (!failed && !(failedBefore && isPause(server, sent, said))) {
        problem('was refused, though no call of it failed')
      }
    }
    if (step.states && (await stateOf(server, step.states.nonce)) === undefined) {
      problem('cannot be read afterwards')
    }
  }
  // The first call that failed may be one of a delivery, behind all answers.
  if (lasting && device.failed > 0 && broken.length === 0) {
    broken.push(last)
    if ((await last.send()).status !== 503) {
      const first = device.told
      report.problems.push(`${name}: a disk that fails for good refused nothing, from ${first} on`)
    }
  }
  if (device.failed > 0) countFault(report, device.told)
  device.disarm()
  for (const step of broken) await mend(world, step, name, report)
}

/** True if the commit was on disk, and only its fold, or that of a delivery or of sweeps failed. `said`: the output before it. */
async function otherFailed(server: TestServer, said: number): Promise<boolean> {
  const told = until('the lines about another failure', () => {
    const lines = server.output().slice(said)
    const commits = [...lines.matchAll(/"commit\.failed".*"operations":(\d+)/g)]
    const operations = commits.reduce((sum, [, number]) => sum + Number(number), 0)
    // A fold has none. Work in the background tells of each of its own.
    const background = lines.match(/"(outbox|housekeeping)\.failed"(?!.*unavailable)/g)?.length ?? 0
    return commits.length > 0 && operations <= background
  })
  return told.then(
    () => true,
    () => false,
  )
}

/**
 * True for an answer in the pause between two tries to write the log again. It is as long as a busy machine makes it. A fault is
 * told of in the log. `said`: the output before the request.
 */
function isPause(server: TestServer, { status }: Sent, said: number): boolean {
  return status === 503 && !server.output().slice(said).includes('"event":"fault"')
}

/** The answer behind the pause, if there is one. The disk does not fail any more. */
async function sendBehindPause<Answer extends Sent>(send: () => Promise<Answer>): Promise<Answer> {
  let answer = await send()
  await until('the end of the pause', async () => {
    if (answer.status !== 503) return true
    answer = await send()
    return false
  })
  return answer
}

/** After the fault: the operation happened or not, and a retry comes to one answer that stays. */
async function mend({ server, done }: World, step: Step, name: string, report: DiskReport) {
  const { states } = step
  const state = states && (await stateOf(server, states.nonce))
  if (states && state !== states.before && state !== states.after) {
    report.problems.push(`${name}: ${step.name} left its voucher ${state}`)
  }
  const first = await sendBehindPause(step.send)
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

/** The requests of a round, and one more. */
async function makeSteps(world: World): Promise<{ steps: Step[]; last: Step }> {
  const { token, couponId } = world
  const ask = (path: string, options: Parameters<typeof call>[2]): Promise<Answer> =>
    call(world.server.url, path, options)
  const mint = () => ask('/api/coupons/mint', { body: { couponId, count: 3 }, token })
  // A commit of the round before may have failed in the background.
  const { json } = await sendBehindPause(mint)
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
  const steps = [
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
      // A read: to send it again may be a write.
      stands: async () => (await world.relay.idsOf({ ids: [note.id] })).includes(note.id),
    }),
  ]
  const last = step('a mint behind them', keyed('/api/coupons/mint', { couponId }), 200)
  return { steps, last }
}

/** The OK of the relay as an answer. */
async function publish(world: World, event: ReturnType<typeof createEvent>) {
  const [accepted, text] = await world.relay.publish(event)
  if (accepted) return { status: 200, text }
  const code = text.startsWith('error:') ? 'unavailable' : 'refused'
  return { status: 503, text, json: { code } }
}
