import { chmodSync, rmSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { version } from '../../package.json'
import { type JsonObject, parseJsonObject } from '../base/json.ts'
import { limits } from '../base/limits.ts'
import type { Log } from '../base/log.ts'
import { OperatorError } from '../base/operator-error.ts'
import { Refusal } from '../base/refusal.ts'
import { type BackupReport, refuseTarget } from '../db/backup.ts'
import type { CheckReport } from '../db/check-report.ts'
import type { RelayStatus } from '../gateway/service.ts'
import { reasonOf } from '../wallet/identities/reasons.ts'
import type { OpenTransfers } from '../wallet/transfers/transfer-store.ts'
import { noteBackup } from './backup-age.ts'
import { databasePath, requireFile } from './data.ts'
import { isSilent } from './nodes.ts'
import type { Runtime } from './runtime.ts'

export type Status = {
  version: string
  address: string
  /** Hex. */
  manager: string
  pid: number
  uptimeSeconds: number
  /** The nodes on its database that were heard of lately. Null: the database is a file. */
  nodes: number | null
  /** Vouchers that came and wait for the service that issued them. */
  transfers: OpenTransfers[]
}

/** An answer of the control socket: a result, or the reason for its absence. */
export type ControlAnswer<T> = { result: T } | { refused: string }

export type ControlOptions = {
  address: string
  transfers: () => Promise<OpenTransfers[]>
  relays: () => Promise<RelayStatus[]>
  /** Commands of the features, by method and path. Each gets the JSON object of its request. */
  commands: Record<string, (asked: JsonObject) => Promise<unknown>>
  /** Answer to a command that is none of these. */
  unknown?: string
}

export type Control = {
  /** Close the socket and cancel long work. */
  stop(): Promise<void>
}

const unknownCommand = 'the server does not know this command: is it of another version?'

/** The socket on which commands reach the server of a data directory. */
export function controlPath(dataDir: string): string {
  return join(dataDir, 'control.sock')
}

/** The operator's door to a running server: HTTP over a Unix socket that only its user can open. */
export function startControl(runtime: Runtime, options: ControlOptions): Control {
  const { config, database, log, maintenance, metrics, signer, steady } = runtime
  const { dataDir } = config
  const source = databasePath(dataDir)
  const startedMs = steady()

  const status = async (): Promise<Status> => ({
    ...{ version, address: options.address },
    manager: signer.pubkey,
    pid: process.pid,
    uptimeSeconds: Math.round((steady() - startedMs) / 1000),
    nodes: (await database.nodes?.list())?.filter((node) => !isSilent(node)).length ?? null,
    transfers: await options.transfers(),
  })

  async function check(): Promise<CheckReport> {
    log.info('check.started')
    const report = await maintenance.check()
    // Its thread also sees a commit that a slow disk does not have yet.
    await settled()
    const { problems, found, seconds, rows } = report
    metrics.checked(found)
    database.checked(found)
    if (found === 0) log.info('check.passed', { seconds, rows })
    else log.error('check.failed', { found, problems, seconds, rows })
    return report
  }

  async function backup(request: Request): Promise<BackupReport> {
    requireFile(config, 'backup')
    const { file, force } = await readObject(request)
    if (typeof file !== 'string' || !isAbsolute(file)) {
      throw new OperatorError('a backup needs an absolute file name')
    }
    refuseTarget(source, file, force === true)
    const report = await maintenance.backup(file, force === true)
    try {
      await settled()
    } catch (cause) {
      // The backup is whole, and on a disk that fails nothing is needed more.
      const hint = 'it may have a write that was answered 503'
      log.warn('backup.unsettled', { cause, file, hint })
    }
    log.info('backup.written', { file, bytes: report.bytes, noted: noteBackup(dataDir) })
    return report
  }

  async function settled(): Promise<null> {
    await database.settled?.()
    return null
  }

  const answers: Record<string, (request: Request) => Promise<unknown>> = {
    'GET /status': status,
    'GET /relays': options.relays,
    'GET /settled': settled,
    'POST /check': check,
    'POST /backup': backup,
  }
  for (const [name, command] of Object.entries(options.commands)) {
    answers[name] = async (request) => command(await readObject(request))
  }
  const server = listen(dataDir, log, async (request) => {
    const answer = answers[`${request.method} ${new URL(request.url).pathname}`]
    try {
      if (!answer) throw new OperatorError(options.unknown ?? unknownCommand)
      return Response.json({ result: await answer(request) })
    } catch (cause) {
      if (cause instanceof Refusal) {
        return Response.json({ refused: reasonOf(cause) }, { status: 409 })
      }
      if (cause instanceof OperatorError) {
        return Response.json({ refused: cause.message }, { status: 409 })
      }
      log.error('control.failed', { cause })
      return Response.json(
        { refused: 'it failed: the log of the server says why' },
        { status: 500 },
      )
    }
  })
  // The previous process did not close the database.
  if (!database.cleanStart) {
    check().catch((cause) => {
      if (OperatorError.is(cause, 'stopping')) log.info('check.stopped')
      else log.error('check.broken', { cause })
    })
  }

  return {
    async stop() {
      maintenance.stop()
      // Bun removes the socket with it.
      await server?.stop(true)
    },
  }
}

/** Parse the body of a command. Bun bounds its bytes. */
async function readObject(request: Request): Promise<JsonObject> {
  const asked = parseJsonObject(await request.bytes(), limits.controlBodyBytesMax)
  if (!asked) throw new OperatorError('a command is asked for with a JSON object')
  return asked
}

/** Null where no socket can exist (some network file systems). The service runs without it. */
function listen(dataDir: string, log: Log, answer: (request: Request) => Promise<Response>) {
  const path = controlPath(dataDir)
  try {
    // A socket file may be left by a killed process. The lock shows that it is gone.
    rmSync(path, { force: true })
    // Bun reaches a path that is too long for a socket address through its directory (Linux).
    const server = Bun.serve({
      unix: path,
      maxRequestBodySize: limits.controlBodyBytesMax,
      // A check of a large file takes its time before the first byte. Bun honours this for sockets
      // (and not `server.timeout`), though its types deny it.
      idleTimeout: 0 as never,
      fetch: answer,
    })
    chmodSync(path, 0o600)
    return server
  } catch (cause) {
    const hint = 'commands cannot reach this server while it runs'
    log.warn('control.unavailable', { cause, hint })
    return null
  }
}
