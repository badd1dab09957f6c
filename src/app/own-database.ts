import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { writeDurably } from '../base/durable.ts'
import { OperatorError } from '../base/operator-error.ts'
import { untouched } from '../db/arrival.ts'
import type { Config } from './config.ts'
import { databasePath, startErrorFrom } from './data.ts'

type Place = Pick<Config, 'dataDir' | 'databaseUrl'>

/** The mark of a node whose database is on a server. It names no address, which may have a password. */
function markPath(dataDir: string): string {
  return join(dataDir, 'database-on-server')
}

/**
 * Throws OperatorError where an empty service would begin in place of the one that the directory belongs to, and call
 * its vouchers unknown: without DATABASE_URL on a node that had it, and with an empty database in place of its own.
 */
export async function requireOwnDatabase({ dataDir, databaseUrl }: Place): Promise<void> {
  const mark = markPath(dataDir)
  const marked = existsSync(mark)
  if (databaseUrl === null) {
    // A service that came back from the server, or from a backup, is the one that counts.
    if (!marked || !isUntouched(dataDir)) return
    throw new OperatorError(
      `DATABASE_URL is missing: the database of ${dataDir} is on PostgreSQL\nset it, or delete ${mark} to begin a service in a file`,
    )
  }
  if (!marked && !existsSync(databasePath(dataDir))) return
  const { readServerPins } = await import('../db/postgres/inspect.ts')
  if ((await readServerPins(databaseUrl)) !== null) return
  if (marked) {
    throw new OperatorError(
      `the database of DATABASE_URL is empty, and ${dataDir} has another one on PostgreSQL\nname that one, or delete ${mark} to begin a service`,
    )
  }
  if (isUntouched(dataDir)) return
  throw new OperatorError(
    `the database of DATABASE_URL is empty, and ${databasePath(dataDir)} has a service\nmove it with "cuponera move", or name another DATA_DIR`,
  )
}

/** Keep where the database of a directory is, once a start with it was accepted. */
export function keepOwnDatabase({ dataDir, databaseUrl }: Place): void {
  const mark = markPath(dataDir)
  try {
    if (databaseUrl === null) rmSync(mark, { force: true })
    else if (!existsSync(mark)) {
      writeDurably(mark, 'The database of this node is on PostgreSQL: DATABASE_URL.\n')
    }
  } catch (cause) {
    throw startErrorFrom(cause, `cannot use the data directory ${dataDir}`)
  }
}

function isUntouched(dataDir: string): boolean {
  try {
    return untouched(dataDir)
  } catch (cause) {
    throw startErrorFrom(cause, `cannot read the databases in ${dataDir}`)
  }
}
