import type { Database as Sqlite } from 'bun:sqlite'
import schema from '../../schema.sql' with { type: 'text' }

/** `steps[n]` brings a file from version n to n + 1. Version 1 is where files begin. */
const steps: Readonly<Record<number, string>> = {}

/** The version that schema.sql describes. */
export const schemaVersion = Number(/PRAGMA user_version = (\d+);/.exec(schema)?.[1])

/** The file was written by a newer program than this one. */
export class NewerSchema extends Error {}

/** Create the schema in an empty file, or bring an older one to it; one transaction. */
export function migrate(connection: Sqlite): void {
  const version = userVersion(connection)
  if (version === schemaVersion) return
  if (version > schemaVersion) {
    throw new NewerSchema(
      `the database has schema ${version}, this program knows up to ${schemaVersion}: upgrade it`,
    )
  }
  connection.transaction(() => {
    if (version === 0) return connection.run(schema)
    for (let at = version; at < schemaVersion; at++) {
      const step = steps[at]
      if (step === undefined) throw new Error(`no way from schema ${at} to ${at + 1}`)
      connection.run(`${step}; PRAGMA user_version = ${at + 1}`)
    }
  })()
}

function userVersion(connection: Sqlite): number {
  const row = connection.query<{ user_version: number }, []>('PRAGMA user_version').get()
  return row?.user_version ?? 0
}
