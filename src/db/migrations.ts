import type { Database as Sqlite } from 'bun:sqlite'
import couponText from '../../schema.sql' with { type: 'text' }
import outbox from './step-2-outbox.sql' with { type: 'text' }
import accounts from './step-3-accounts.sql' with { type: 'text' }
import cards from './step-4-cards.sql' with { type: 'text' }
import hourly from './step-5-hourly.sql' with { type: 'text' }
import ledger from './step-6-ledger.sql' with { type: 'text' }
import { addImages } from './step-7-images.ts'
import transfers from './step-8-transfers.sql' with { type: 'text' }
import nonces from './step-9-nonces.sql' with { type: 'text' }
import payments from './step-10-payments.sql' with { type: 'text' }
import namedKeys from './step-11-named-keys.sql' with { type: 'text' }
import suspects from './step-12-suspects.sql' with { type: 'text' }
import intents from './step-13-intents.sql' with { type: 'text' }
import lanes from './step-14-lanes.sql' with { type: 'text' }
import spends from './step-15-spends.sql' with { type: 'text' }
import commonText from './step-16-common-text.sql' with { type: 'text' }
import priority from './step-17-priority.sql' with { type: 'text' }
import sessions from './step-18-sessions.sql' with { type: 'text' }
import merchants from './step-19-merchants.sql' with { type: 'text' }
import quotas from './step-20-quotas.sql' with { type: 'text' }

/** Statements, or what has to be computed between them. */
type Step = string | ((connection: Sqlite) => void)

/** What a file is to look like, with `user_version` on top, and `steps[n]` from version n to n + 1. */
export type Schema = { text: string; steps: Readonly<Record<number, Step>> }

/** The schema of the coupon database. */
export const couponSchema: Schema = {
  text: couponText,
  steps: {
    1: outbox,
    2: accounts,
    3: cards,
    4: hourly,
    5: ledger,
    6: addImages,
    7: transfers,
    8: nonces,
    9: payments,
    10: namedKeys,
    11: suspects,
    12: intents,
    13: lanes,
    14: spends,
    15: commonText,
    16: priority,
    17: sessions,
    18: merchants,
    19: quotas,
  },
}

/** The version that a schema describes. */
export function versionOf({ text }: Schema): number {
  return Number(/PRAGMA user_version = (\d+);/.exec(text)?.[1])
}

/** The file was written by a newer program than this one. */
export class NewerSchema extends Error {}

/** Create the schema in an empty file, or bring an older one to it; one transaction. */
export function migrate(connection: Sqlite, schema: Schema): void {
  const version = userVersion(connection)
  const schemaVersion = versionOf(schema)
  if (version === schemaVersion) return
  if (version > schemaVersion) {
    throw new NewerSchema(
      `the database has schema ${version}, this program knows up to ${schemaVersion}: upgrade it`,
    )
  }
  connection.transaction(() => {
    if (version === 0) return connection.run(schema.text)
    for (let at = version; at < schemaVersion; at++) {
      const step = schema.steps[at]
      if (step === undefined) throw new Error(`no way from schema ${at} to ${at + 1}`)
      if (typeof step === 'string') connection.run(step)
      else step(connection)
      connection.run(`PRAGMA user_version = ${at + 1}`)
    }
  })()
}

/** The version of the schema that a file has. */
export function userVersion(connection: Sqlite): number {
  const row = connection.query<{ user_version: number }, []>('PRAGMA user_version').get()
  return row?.user_version ?? 0
}
