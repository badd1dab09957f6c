import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { copyDirectory, createPopulated } from '../support/cli.ts'
import { call, createDefinition, mintOne, newSigner, openSession } from '../support/client.ts'
import { newDirectory, startServer, type TestServer } from '../support/server.ts'
import { checkInvariants } from '../support/workload.ts'
import { Device, type Fault } from './disk-device.ts'
import {
  atEach,
  countFault,
  countOutcome,
  type DiskReport,
  findTraces,
  findUnclear,
  type Numbers,
  newReport,
} from './disk-faults-report.ts'

const env = { RATE_LIMIT: 'off', DISK_FLOOR: '0' }

/** A nonce and the state that it must have. */
type Known = { nonce: string; status: string }

/** Starts in an empty directory, and on one that a kill left, with a fault at each n-th call. */
export async function failStarts(numbers: Numbers): Promise<DiskReport> {
  const report = newReport()
  const fresh = () => ({ dataDir: newDirectory(), known: [] })
  await failStartsOf(numbers, 'a first start', fresh, report)
  const killed = await createKilled()
  const copy = () => ({ known: [...killed.known], dataDir: copyDirectory(killed.dataDir) })
  await failStartsOf(numbers, 'a start after a kill', copy, report)
  return report
}

type Place = { dataDir: string; known: Known[] }

async function failStartsOf(numbers: Numbers, what: string, make: () => Place, report: DiskReport) {
  const root = newDirectory()
  const device = new Device(root)
  await atEach(device, numbers, async (fault, kind) => {
    const { dataDir, known } = make()
    device.arm(fault)
    device.below(dataDir)
    await startOnce({ dataDir, known, device, name: `${what}, ${kind}`, report })
  })
}

type Start = Place & { device: Device; name: string; report: DiskReport }

async function startOnce({ dataDir, known, device, name, report }: Start): Promise<void> {
  const problem = (what: string) => report.problems.push(`${name}: ${what}`)
  let manager: string | undefined
  try {
    const server = await startServer({ dataDir, env: { ...env, ...device.env } })
    countOutcome(report, 'started')
    manager = managerOf(server)
    device.disarm()
    known.push({ nonce: await mintAnew(server), status: 'minted' })
    await server.kill()
  } catch (cause) {
    if (!(cause instanceof Error)) throw cause
    countOutcome(report, 'stopped')
    const [, code, output = ''] = /^the server ended with (\d+): (.*)$/s.exec(cause.message) ?? []
    if (code !== '1') problem(cause.message)
    else for (const unclear of findUnclear(output)) problem(unclear)
  }
  device.disarm()
  if (device.failed === 0) return
  countFault(report, device.told)
  await startAgain(dataDir, known, problem, manager)
}

/** The next start finds all that was answered, and the keys that were shown. */
async function startAgain(
  dataDir: string,
  known: Known[],
  problem: (what: string) => void,
  manager?: string,
): Promise<void> {
  try {
    const server = await startServer({ dataDir, env })
    if (manager !== undefined && managerOf(server) !== manager) problem('it has other keys now')
    for (const { nonce, status } of known) {
      const { json } = await call(server.url, '/api/coupons/preview', { body: { nonce } })
      if (json.status !== status) problem(`a voucher is not ${status}: ${JSON.stringify(json)}`)
    }
    await mintAnew(server)
    if ((await server.stop()) !== 0) problem('the next start did not end well')
    for (const broken of checkInvariants(join(dataDir, 'cuponera.db'))) problem(broken)
  } catch (cause) {
    if (!(cause instanceof Error)) throw cause
    problem(`the next start: ${cause.message}`)
  }
}

/** Stops with a fault at each n-th call: they end with 0, and the next start finds all and knows if it must check. */
export async function failStops(numbers: Numbers): Promise<DiskReport> {
  const report = newReport()
  const { dataDir: sound } = await createPopulated()
  const device = new Device(sound)
  await atEach(device, numbers, async (fault, kind) => {
    const dataDir = copyDirectory(sound)
    device.disarm()
    device.below(dataDir)
    await stopOnce(dataDir, device, fault, { name: `a stop, ${kind}`, report })
  })
  return report
}

async function stopOnce(
  dataDir: string,
  device: Device,
  fault: Fault,
  { name, report }: { name: string; report: DiskReport },
): Promise<void> {
  const problem = (what: string) => report.problems.push(`${name}: ${what}`)
  const server = await startServer({ dataDir, env: { ...env, ...device.env } })
  const nonce = await mintAnew(server)
  device.arm(fault)
  const code = await server.stop()
  countOutcome(report, `ended with ${code}`)
  if (code !== 0) problem(`it ended with ${code}: ${server.output()}`)
  if (!server.output().includes('"stopped"')) problem('it did not say that it stopped')
  for (const unclear of findTraces(server.output())) problem(unclear)
  device.disarm()
  if (device.failed === 0) return
  countFault(report, device.told)
  await startAgain(dataDir, [{ nonce, status: 'minted' }], problem)
}

/** A data directory as a kill leaves it, and what was answered. */
async function createKilled(): Promise<Place> {
  const { dataDir, open, claimed, refreshed } = await createPopulated()
  const server = await startServer({ dataDir, env })
  const nonce = await mintAnew(server)
  await server.kill()
  // A socket cannot be copied.
  rmSync(join(dataDir, 'control.sock'))
  const known = [
    { nonce, status: 'minted' },
    { nonce: open, status: 'minted' },
    { nonce: claimed, status: 'claimed' },
    { nonce: refreshed, status: 'refreshed' },
  ]
  return { dataDir, known }
}

async function mintAnew({ url }: TestServer): Promise<string> {
  const token = await openSession(url, newSigner())
  const { nonce } = await mintOne(url, token, await createDefinition(url, token))
  if (typeof nonce !== 'string') throw new Error('it does not mint')
  return nonce
}

function managerOf(server: TestServer): string | undefined {
  return /manager\s+(npub1\w+)/.exec(server.output())?.[1]
}
