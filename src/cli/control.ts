import { existsSync } from 'node:fs'
import type { Config } from '../app/config.ts'
import { type ControlAnswer, controlPath, type Status } from '../app/control.ts'
import { databasePath, requireFile } from '../app/data.ts'
import { limits } from '../base/limits.ts'
import { OperatorError } from '../base/operator-error.ts'
import { arrivalWaits } from '../db/arrival.ts'
import { inspect } from '../db/inspect.ts'
import { type Lock, lockDatabases } from '../db/lock.ts'
import type { Sql } from '../db/sql.ts'

/** A client of the server that uses a data directory. */
type Server = {
  /** Send a command. Throws OperatorError: `no-answer`, or with the message of the server. */
  ask<T>(method: 'GET' | 'POST', command: string, body?: object): Promise<T>
}

type Variants<T> = {
  /** Runs on the database itself, while this process holds the lock. */
  alone: (database: string) => Promise<T>
  /** Runs through the server that holds the lock. */
  running: (server: Server) => Promise<T>
}

/** Run a command in the server if one runs, else on the database: only the lock's holder may open it. */
export async function withDatabase<T>(config: Config, variants: Variants<T>): Promise<T> {
  const lock = lockDirectory(config)
  if (!lock) {
    const server = connect(config)
    // A quick question first: a process that holds the lock and does not answer is reported within seconds.
    await server.ask<Status>('GET', 'status')
    return variants.running(server)
  }
  try {
    return await variants.alone(databaseFile(config))
  } finally {
    lock.release()
  }
}

/**
 * Run a command that needs the data directory for itself. Throws OperatorError if a server runs. `needed`: the databases
 * whose logs must be on disk, else all.
 */
export async function withoutServer<T>(
  config: Config,
  command: () => Promise<T>,
  needed?: string[],
): Promise<T> {
  const lock = lockDirectory(config, needed)
  if (!lock) {
    throw new OperatorError(`a server is using ${config.dataDir}: stop it first`)
  }
  try {
    return await command()
  } finally {
    lock.release()
  }
}

/**
 * Read the database in one state, alone or beside a server that answers. One that only starts may still be storing the log
 * that an ended process left: a read before that would show what a power cut can take.
 */
export async function readDatabase<T>(config: Config, query: (sql: Sql) => Promise<T>): Promise<T> {
  return withDatabase(config, {
    alone: (database) => inspect(database, query),
    running: (server) => inspect(databaseFile(config), query, () => server.ask('GET', 'settled')),
  })
}

/** True if a process holds the lock of the data directory. */
export function inUse(config: Config): boolean {
  const lock = lockDirectory(config)
  lock?.release()
  return lock === null
}

/** Path of the database. Throws OperatorError if it does not exist, or is no file but PostgreSQL. */
export function databaseFile(config: Config): string {
  requireFile(config, 'alone')
  const { dataDir } = config
  const path = databasePath(dataDir)
  if (!existsSync(path)) throw new OperatorError(`there is no database in ${dataDir}`)
  return path
}

function lockDirectory({ dataDir }: Config, needed?: string[]): Lock | null {
  if (!existsSync(dataDir)) throw new OperatorError(`there is no data directory ${dataDir}`)
  // Files that this command creates (database, lock, backup) are for this user only.
  process.umask(0o077)
  try {
    const lock = lockDatabases(dataDir, needed)
    if (lock && arrivalWaits(dataDir)) {
      // A crash may have left keys of one service and the database of another.
      lock.release()
      throw new OperatorError('a service has arrived from another computer: start it once')
    }
    return lock
  } catch (cause) {
    if (cause instanceof OperatorError) throw cause
    if (!(cause instanceof Error && 'code' in cause)) throw cause
    throw new OperatorError(`${dataDir} cannot be used: ${String(cause.code)} (another user's?)`)
  }
}

/** Create the client of the control socket. It connects at each call, so a missing server shows then. */
export function connect({ dataDir }: Config): Server {
  const unix = controlPath(dataDir)
  return {
    async ask<T>(method: 'GET' | 'POST', command: string, body?: object): Promise<T> {
      let answer: ControlAnswer<T>
      try {
        const response = await fetch(`http://control/${command}`, {
          unix,
          method,
          body: body ? JSON.stringify(body) : null,
          // A POST may be a long check or backup. A GET is answered at once.
          ...(method === 'POST'
            ? { timeout: false }
            : { signal: AbortSignal.timeout(limits.controlAnswerSeconds * 1000) }),
        })
        answer = (await response.json()) as ControlAnswer<T>
      } catch (cause) {
        throw new OperatorError(silence(dataDir, cause), 'no-answer')
      }
      if ('refused' in answer) throw new OperatorError(answer.refused)
      return answer.result
    },
  }
}

/** The message for a control socket that does not answer. */
function silence(dataDir: string, cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : ''
  return `${dataDir} is in use by another process, but its control socket does not answer${code}: it may be starting or stopping, or be another command; try again`
}
