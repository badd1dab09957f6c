import { Database as Sqlite } from 'bun:sqlite'
import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { limits } from '../../src/base/limits.ts'
import {
  call,
  createDefinition,
  mintOne,
  newSigner,
  openSession,
  withKey,
} from '../support/client.ts'
import { newDirectory, startServer } from '../support/server.ts'
import { logged } from '../support/until.ts'
import { checkInvariants } from '../support/workload.ts'
import { Device } from './disk-device.ts'
import { countFault, countOutcome, type DiskReport, newReport } from './disk-faults-report.ts'

const pageBytes = 4096
const env = { RATE_LIMIT: 'off', DISK_FLOOR: '0' }

/**
 * The log is folded in part, because a reader keeps an old state, and then the sync of the file fails. The part may be lost
 * though it can be read, so the service ends with a line, and the next one has every answer.
 */
export async function failFold(): Promise<DiskReport> {
  const report = newReport()
  const dataDir = newDirectory()
  const device = new Device(dataDir)
  const server = await startServer({ dataDir, env: { ...env, ...device.env } })
  const token = await openSession(server.url, newSigner())
  const couponId = await createDefinition(server.url, token)
  const { nonce } = await mintOne(server.url, token, couponId)
  const path = join(realpathSync(dataDir), 'cuponera.db')
  let minted = 1
  const count = 500
  const mint = async () => {
    const body = { couponId, count }
    const { status } = await call(server.url, '/api/coupons/mint', { body, token, ...withKey() })
    if (status === 200) minted += count
    else report.problems.push(`a mint comes to ${status}`)
  }

  device.arm({ error: 'EIO', first: 1, last: 1 }, `fsync ${path}$`)
  const reader = new Sqlite(path, { readonly: true })
  reader.run('BEGIN')
  reader.query('SELECT * FROM state').get()
  const log = `${path}-wal`
  // A disk that others keep busy counts as a slow one.
  const frames = limits.slowLogFramesMax + limits.logFramesMax
  while (Bun.file(log).size < frames * pageBytes) await mint()
  reader.close()
  const broken = { body: { couponId }, token, ...withKey() }
  const answered = await call(server.url, '/api/coupons/mint', broken).catch(() => null)
  if (answered !== null) {
    report.problems.push(`the service goes on: ${answered.status}`)
    await server.kill()
    return report
  }
  await server.exited
  await logged(server, 'cuponera: the disk failed')
  countFault(report, device.told)
  countOutcome(report, 'ended')
  if (!/^cuponera: the disk failed \(SQLITE_IOERR_FSYNC\)/m.test(server.output())) {
    report.problems.push(`no line says why it ended: ${server.output()}`)
  }
  device.disarm()

  const next = await startServer({ dataDir, env })
  const again = await call(next.url, '/api/coupons/mint', broken)
  if (again.status !== 200) report.problems.push(`the mint again: ${again.status} ${again.text}`)
  else minted++
  const preview = await call(next.url, '/api/coupons/preview', { body: { nonce } })
  if (preview.json.status !== 'minted') report.problems.push('a voucher is not there')
  const { json } = await call(next.url, '/api/coupons', { token })
  if (json.coupons[0].minted !== minted) {
    report.problems.push(`${json.coupons[0].minted} are minted, not ${minted}`)
  }
  if ((await next.stop()) !== 0) report.problems.push('the next start did not end well')
  report.problems.push(...checkInvariants(path))
  return report
}
