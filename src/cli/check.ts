import type { Config } from '../app/config.ts'
import { checkDatabase } from '../db/check.ts'
import { type CheckReport, noPause } from '../db/check-report.ts'
import { withDatabase } from './control.ts'

/** Verify the database. The exit code is 1 if there is a problem. */
export async function check(config: Config): Promise<number> {
  const report = await reportOf(config)
  for (const note of report.notes) console.log(`note: ${note}`)
  for (const problem of report.problems) console.log(`problem: ${problem}`)
  const unlisted = report.found - report.problems.length
  if (unlisted > 0) console.log(`and ${unlisted} more`)
  const verdict = report.found === 0 ? 'no problems' : `${report.found} problem(s)`
  console.log(`${verdict}: ${rowsOf(report)}, in ${report.seconds} s`)
  return report.found === 0 ? 0 : 1
}

/** A database on a server is read beside the service. A file is checked by the service that runs. */
async function reportOf(config: Config): Promise<CheckReport> {
  if (config.databaseUrl !== null) {
    const { checkPostgres } = await import('../db/postgres/check.ts')
    return checkPostgres(config.databaseUrl, noPause)
  }
  return withDatabase(config, {
    alone: (database) => checkDatabase(database, noPause),
    running: (server) => server.ask<CheckReport>('POST', 'check'),
  })
}

/** The checked rows, for the operator. */
export function rowsOf({ rows }: CheckReport): string {
  return `${rows.definitions} definitions, ${rows.vouchers} vouchers, ${rows.refreshes} refreshes, ${rows.redemptions} redemptions`
}
