import { Database as Sqlite } from 'bun:sqlite'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { createPopulated, runCommand } from '../support/cli.ts'
import { call, createDefinition, mintOne, newSigner, openSession } from '../support/client.ts'
import { newDirectory, startServer } from '../support/server.ts'
import { until } from '../support/until.ts'
import { checkInvariants } from '../support/workload.ts'
import { Device } from './disk-device.ts'
import {
  atEach,
  countFault,
  countOutcome,
  type DiskReport,
  findUnclear,
  type Numbers,
  newReport,
} from './disk-faults-report.ts'

/** A backup, a restore, and a backup beside a running service, with a fault at each n-th call. */
export async function failCommands(numbers: Numbers): Promise<DiskReport> {
  const report = newReport()
  const { dataDir } = await createPopulated()
  await failBackups(numbers, dataDir, report)
  await failRestores(numbers, dataDir, report)
  await failBackupsBeside(numbers, dataDir, report)
  return report
}

/** A directory with a copy of the data directory in it, and room for other files on the same disk. */
function makePlace(sound: string) {
  const root = newDirectory()
  const [dataDir, out] = [join(root, 'data'), join(root, 'out')]
  cpSync(sound, dataDir, { recursive: true })
  mkdirSync(out)
  return { root, dataDir, out, target: join(out, 'copy.db') }
}

async function failBackups(numbers: Numbers, sound: string, report: DiskReport): Promise<void> {
  const device = new Device(sound)
  await atEach(device, numbers, async (fault, kind) => {
    const { root, dataDir, out, target } = makePlace(sound)
    device.arm(fault)
    device.below(root)
    const run = await runCommand(['backup', target], { dataDir, env: device.env })
    device.disarm()
    if (device.failed > 0) countFault(report, device.told)
    judge(report, `a backup, ${kind}`, run, [
      ...judgeCopy(run.code, out, target, sound),
      ...differences(dataDir, [sound]),
    ])
  })
}

/** One service for all: it goes on while a backup of it meets a full disk. */
async function failBackupsBeside(numbers: Numbers, sound: string, report: DiskReport) {
  const { root, dataDir } = makePlace(sound)
  const device = new Device(root)
  const env = { RATE_LIMIT: 'off', DISK_FLOOR: '0', ...device.env }
  const server = await startServer({ dataDir, env })
  const token = await openSession(server.url, newSigner())
  const couponId = await createDefinition(server.url, token)
  let runs = 0
  await atEach(device, numbers, async (fault, kind) => {
    const out = join(root, `out-${runs++}`)
    mkdirSync(out)
    const target = join(out, 'copy.db')
    device.arm(fault, '/copy.db')
    const run = await runCommand(['backup', target], { dataDir })
    const { nonce } = await mintOne(server.url, token, couponId)
    device.disarm()
    if (device.failed > 0) countFault(report, device.told)
    const preview = await call(server.url, '/api/coupons/preview', { body: { nonce } })
    judge(report, `a backup beside the service, ${kind}`, run, [
      ...judgeCopy(run.code, out, target, null),
      ...(preview.json.status === 'minted' ? [] : ['the service did not go on']),
    ])
  })
  if ((await server.stop()) !== 0) report.problems.push('the service did not end well')
}

async function failRestores(numbers: Numbers, sound: string, report: DiskReport): Promise<void> {
  const backup = join(newDirectory(), 'backup.db')
  await runCommand(['backup', backup], { dataDir: sound })
  const later = makePlace(sound).dataDir
  const server = await startServer({ dataDir: later })
  const token = await openSession(server.url, newSigner())
  await mintOne(server.url, token, await createDefinition(server.url, token))
  await server.stop()
  const device = new Device(sound)
  await atEach(device, numbers, async (fault, kind) => {
    const { root, dataDir } = makePlace(later)
    device.arm(fault)
    device.below(root)
    const run = await runCommand(['restore', backup, '--force'], { dataDir, env: device.env })
    device.disarm()
    if (device.failed > 0) countFault(report, device.told)
    const states = run.code === 0 ? [sound] : [sound, later]
    judge(report, `a restore, ${kind}`, run, [
      ...differences(dataDir, states),
      ...readdirSync(dataDir).filter((name) => name.includes('.restoring-')),
    ])
    if (device.failed === 0) return
    const next = await startServer({ dataDir })
    if ((await next.stop()) !== 0) report.problems.push(`${kind}: the start after a restore`)
  })
}

/** Commands on what a killed service left, whose log cannot be brought to the disk first: they fold nothing. */
export async function failLogs(): Promise<DiskReport> {
  const report = newReport()
  const server = await startServer()
  const { dataDir, url } = server
  const token = await openSession(url, newSigner())
  const { nonce } = await mintOne(url, token, await createDefinition(url, token))
  await server.kill()
  const device = new Device(dataDir)
  for (const changing of ['pwrite', 'fsync']) {
    const log = join(realpathSync(dataDir), 'cuponera.db-wal')
    device.arm({ error: 'EIO', first: 1, last: 1 }, `${changing} ${log}$`)
    const run = await runCommand(['check'], { dataDir, env: device.env })
    device.disarm()
    countFault(report, device.told)
    const read = run.code === 0 ? ['it read a log that may not be on the disk'] : []
    judge(
      report,
      `a check after a kill, ${changing}`,
      run,
      existsSync(log) ? read : ['the log is gone'],
    )
  }
  // The rest needs the log that these checks left alone.
  if (report.problems.length > 0) return report
  await failLogsAside(report, dataDir)
  const next = await startServer({ dataDir })
  const preview = await call(next.url, '/api/coupons/preview', { body: { nonce } })
  if (preview.json.status !== 'minted') report.problems.push('a voucher is gone after the checks')
  if ((await next.stop()) !== 0) report.problems.push('the start after the checks')
  return report
}

/**
 * Restores in a copy of it: the log cannot be stored, and is kept aside with its file, both as they were. Then the backup
 * does not get its name, and nobody may open the file without its log.
 */
async function failLogsAside(report: DiskReport, killed: string): Promise<void> {
  // Nobody can copy a socket.
  rmSync(join(killed, 'control.sock'), { force: true })
  const { root, dataDir, out, target } = makePlace(killed)
  const whole = makePlace(killed)
  const made = await runCommand(['backup', target], { dataDir: whole.dataDir })
  if (made.code !== 0) report.problems.push(`the backup after a kill: ${made.stderr}`)
  const path = join(realpathSync(dataDir), 'cuponera.db')
  const bytes = (name: string) => String(Bun.hash(readFileSync(name)))
  const before = [bytes(path), bytes(`${path}-wal`)]
  const device = new Device(root)
  const restore = ['restore', target, '--force']
  device.arm({ error: 'EIO', first: 1, last: 1 }, `fsync ${path}-wal$`)
  const run = await runCommand(restore, { dataDir, env: device.env })
  device.disarm()
  countFault(report, device.told)
  const [aside = ''] = readdirSync(dataDir).filter((name) =>
    /^cuponera\.db\.before-restore-\d+$/.test(name),
  )
  const kept = [join(dataDir, aside), join(dataDir, `${aside}-wal`)]
  const same = run.code === 0 && kept.every((name, at) => bytes(name) === before[at])
  judge(report, 'a restore after a kill', run, same ? [] : ['the log was folded or lost'])

  cpSync(killed, out, { recursive: true })
  writeFileSync(join(out, 'cuponera.db'), 'nothing of the kind'.repeat(500))
  writeFileSync(join(out, 'cuponera.db-wal'), 'nothing of the kind')
  device.arm(
    { error: 'EIO', first: 1, last: 1 },
    `rename ${join(realpathSync(out), 'cuponera.db')}$`,
  )
  const cut = await runCommand(restore, { dataDir: out, env: device.env })
  device.disarm()
  countFault(report, device.told)
  const check = await runCommand(['check'], { dataDir: out })
  const refused = check.code === 1 && check.stderr.includes('run the same "cuponera restore" again')
  let again = await runCommand(restore, { dataDir: out })
  // Names of what is kept aside have a second in them.
  await until('another second', async () => {
    if (!again.stderr.includes('try again in a second')) return true
    again = await runCommand(restore, { dataDir: out })
    return false
  })
  judge(report, 'a restore whose backup gets no name', cut, [
    ...(refused ? [] : [`a check read a file without its log: ${check.stderr}`]),
    ...(again.code === 0 ? [] : [`the restore after it: ${again.stderr}`]),
  ])
}

/** A backup is whole, or there is none. Nothing else is left. After its name was given only the sync of names fails. */
function judgeCopy(code: number, out: string, target: string, sound: string | null): string[] {
  const left = readdirSync(out).filter((name) => name !== 'copy.db')
  if (left.length > 0) return [`${left} is left`]
  if (!existsSync(target)) return code === 0 ? ['there is none'] : []
  const whole = checkInvariants(target)
  return sound === null ? whole : [...whole, ...differences(out, [sound], 'copy.db')]
}

function judge(
  report: DiskReport,
  name: string,
  { code, stderr }: { code: number; stderr: string },
  problems: string[],
): void {
  countOutcome(report, code === 0 ? 'done' : 'refused')
  const unclear = code === 0 ? [] : findUnclear(stderr)
  const all = code > 1 ? [`ended with ${code}`, ...unclear] : unclear
  report.problems.push(...[...all, ...problems].map((problem) => `${name}: ${problem}`))
}

/** The reasons why a database is in none of these states, or is not whole. */
function differences(dataDir: string, states: string[], file = 'cuponera.db'): string[] {
  const path = join(dataDir, file)
  const found = phasesOf(path)
  const known = states.some((state) => phasesOf(join(state, 'cuponera.db')) === found)
  return [...(known ? [] : [`the vouchers are ${found}`]), ...checkInvariants(path)]
}

function phasesOf(path: string): string {
  const file = new Sqlite(path)
  try {
    const sql = 'SELECT phase, count(*) AS count FROM vouchers GROUP BY phase ORDER BY phase'
    return JSON.stringify(file.query(sql).all())
  } finally {
    file.close()
  }
}
