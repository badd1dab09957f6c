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

const env = { RATE_LIMIT: 'off', DISK_FLOOR: '0' }

/**
 * The log is folded in part, because a reader keeps an old state, and the sync of the file fails. The part may be lost though it
 * can be read. So it is read from the log, the service goes on, and folds all of it when the reader is gone.
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

  device.arm({ error: 'EIO', first: 1, last: 1 }, `sync ${path}$`)
  const reader = new Sqlite(path, { readonly: true })
  reader.run('BEGIN')
  reader.query('SELECT * FROM state').get()
  // A disk that others keep busy counts as a slow one. After a failure the log grows by its bound.
  const most = 2 * limits.slowLogFramesMax
  while (device.failed === 0 && framesOf(path) < most) await mint()
  if (device.failed === 0) report.problems.push('no sync of the file failed')
  countFault(report, device.told)
  await logged(server, 'commit.failed')
  reader.close()
  for (let [before, now] = [0, 1]; before < now && now < 2 * most; ) {
    before = framesOf(path)
    await mint()
    now = framesOf(path)
  }
  if (framesOf(path) > limits.slowLogFramesMax) report.problems.push('the log is never folded')
  device.disarm()
  countOutcome(report, 'folded later')
  await server.kill()

  const next = await startServer({ dataDir, env })
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

/** Frames in the log of a database. */
function framesOf(path: string): number {
  using other = new Sqlite(path, { readonly: true })
  return other.query<{ log: number }, []>('PRAGMA wal_checkpoint(NOOP)').get()?.log ?? 0
}
