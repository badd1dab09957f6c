import { resolve } from 'node:path'
import { noteBackup } from '../app/backup-age.ts'
import type { Config } from '../app/config.ts'
import { requireFile } from '../app/data.ts'
import { type BackupReport, partialOf, refuseTarget, writeBackup } from '../db/backup.ts'
import { rowsOf } from './check.ts'
import { withDatabase } from './control.ts'

/** Write a verified copy of the database. A relative file name starts at the caller's directory, not the server's. */
export async function backup(config: Config, file: string, force: boolean): Promise<number> {
  requireFile(config, 'backup')
  // A running server writes the file itself, so its path must be absolute.
  const target = resolve(file)
  const report = await withDatabase(config, {
    async alone(source) {
      refuseTarget(source, target, force)
      const written = await writeBackup({ source, target, partial: partialOf(target), force })
      noteBackup(config.dataDir)
      return written
    },
    running: (server) => server.ask<BackupReport>('POST', 'backup', { file: target, force }),
  })
  const megabytes = (report.bytes / 1e6).toFixed(1)
  console.log(
    `${target}: ${megabytes} MB, checked: ${rowsOf(report.check)}${eventsOf(report.events)}`,
  )
  console.log('It holds no keys: keep them too, with "cuponera keys export".')
  return 0
}

/** The part of a report about the embedded relay. */
export function eventsOf(events: number | null): string {
  return events === null ? '' : `, ${events} events of the relay`
}
