import type { Database as Sqlite } from 'bun:sqlite'
import couponText from '../../schema.sql' with { type: 'text' }
import { OperatorError } from '../base/operator-error.ts'
import longTexts from './migrations/postgres-32-long-texts.sql' with { type: 'text' }
import cardNoticesOnServer from './migrations/postgres-33-card-notices.sql' with { type: 'text' }
import commonText from './migrations/step-16-common-text.sql' with { type: 'text' }
import priority from './migrations/step-17-priority.sql' with { type: 'text' }
import sessions from './migrations/step-18-sessions.sql' with { type: 'text' }
import merchants from './migrations/step-19-merchants.sql' with { type: 'text' }
import quotas from './migrations/step-20-quotas.sql' with { type: 'text' }
import shops from './migrations/step-21-shops.sql' with { type: 'text' }
import rules from './migrations/step-22-rules.sql' with { type: 'text' }
import redeemers from './migrations/step-23-redeemers.sql' with { type: 'text' }
import posters from './migrations/step-24-posters.sql' with { type: 'text' }
import authorizedTills from './migrations/step-25-authorized-tills.sql' with { type: 'text' }
import expiries from './migrations/step-26-expiries.sql' with { type: 'text' }
import purchases from './migrations/step-27-purchases.sql' with { type: 'text' }
import pictures from './migrations/step-28-pictures.sql' with { type: 'text' }
import batches from './migrations/step-29-batches.sql' with { type: 'text' }
import inboxRules from './migrations/step-30-inbox-rules.sql' with { type: 'text' }
import pictureIndex from './migrations/step-31-picture-index.sql' with { type: 'text' }
import relayOnServer from './migrations/step-32-relay-on-server.sql' with { type: 'text' }
import cardNotices from './migrations/step-33-card-notices.sql' with { type: 'text' }
import relayText from './relay-schema.sql' with { type: 'text' }

/** A schema: its text with `user_version` on top, and `steps[n]` from version n to n + 1. */
export type Schema = {
  text: string
  steps: Readonly<Record<number, string>>
  /** The oldest version that can be upgraded, and the last program with the steps before it. */
  oldest?: { version: number; lastReader: string }
  /**
   * The same for PostgreSQL: statements from version n to n + 1, with `;` between them. Nodes of version n go on meanwhile
   * and afterwards (docs/cluster.md), so that a step only adds; it deletes nothing but what version n - 1 needed.
   * The tables of the relay are in the same database there, and change by the steps of the coupons.
   */
  postgres?: Readonly<Record<number, string>>
  /** Columns of indexes with texts of any length. On PostgreSQL an index has their digest (`longTexts` of sql.ts). */
  long?: readonly string[]
}

/** The schema of the coupon database. */
export const couponSchema: Schema = {
  text: couponText,
  oldest: { version: 15, lastReader: '0.1.0' },
  postgres: { 31: longTexts, 32: cardNoticesOnServer },
  steps: {
    15: commonText,
    16: priority,
    17: sessions,
    18: merchants,
    19: quotas,
    20: shops,
    21: rules,
    22: redeemers,
    23: posters,
    24: authorizedTills,
    25: expiries,
    26: purchases,
    27: pictures,
    28: batches,
    29: inboxRules,
    30: pictureIndex,
    31: relayOnServer,
    32: cardNotices,
  },
}

/** The schema of the events of the relay inside: in a file of its own, or beside the coupons on PostgreSQL. */
export const relaySchema: Schema = { text: relayText, steps: {}, long: ['d', 'target'] }

/** The version of a schema. */
export function versionOf({ text }: Schema): number {
  return Number(/PRAGMA user_version = (\d+);/.exec(text)?.[1])
}

/** Create the schema in an empty file, or upgrade an older file, in one transaction. */
export function migrate(connection: Sqlite, schema: Schema): void {
  const version = userVersion(connection)
  const schemaVersion = versionOf(schema)
  if (version === schemaVersion) return
  if (version > schemaVersion) {
    throw new OperatorError(
      `the database has schema ${version}, this program knows up to ${schemaVersion}: upgrade it`,
    )
  }
  const refused = tooOld(version, schema)
  if (refused !== null) throw new OperatorError(refused)
  connection.transaction(() => {
    if (version === 0) return connection.run(schema.text)
    for (let at = version; at < schemaVersion; at++) {
      const step = schema.steps[at]
      if (step === undefined) throw new Error(`no way from schema ${at} to ${at + 1}`)
      connection.run(step)
      connection.run(`PRAGMA user_version = ${at + 1}`)
    }
  })()
}

/** A sentence for versions that cannot be upgraded, with the last program that could. Null for other versions. */
export function tooOld(version: number, { oldest }: Schema): string | null {
  if (!oldest || version < 1 || version >= oldest.version) return null
  return `the database has schema ${version}, which Cuponera ${oldest.lastReader} is the last to read: start that on it once`
}

/** The schema version of a file. */
export function userVersion(connection: Sqlite): number {
  const row = connection.query<{ user_version: number }, []>('PRAGMA user_version').get()
  return row?.user_version ?? 0
}
