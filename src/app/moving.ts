import { randomBytes } from 'node:crypto'
import { closeSync, ftruncateSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { limits } from '../base/limits.ts'
import type { Log } from '../base/log.ts'
import { OperatorError } from '../base/operator-error.ts'
import { Refusal } from '../base/refusal.ts'
import { sameMac } from '../crypto/seal.ts'
import { untouched } from '../db/arrival.ts'
import { requireSetupCode } from '../merchants/setup.ts'
import { requireMover } from '../move/mover.ts'
import type { MoveIn, MoveOut } from '../move/service.ts'
import type { Config } from './config.ts'
import type { Management } from './management.ts'
import { refusalOf, requireRoomForMove, stageArrival } from './move.ts'
import type { Runtime } from './runtime.ts'

type MovingParts = Pick<Management, 'merchants'> & {
  /** Stop the service and start it again in this process. */
  restart: () => void
}

/** The way out of a service that runs. It has a file only after the restart, when nothing writes any more. */
export function createMoveOut(runtime: Runtime, { merchants, restart }: MovingParts): MoveOut {
  const { config, database, disk, log, now } = runtime
  const notBegun = async () => {
    throw new Refusal('move-not-begun')
  }
  return {
    async begin({ pubkey, spend }) {
      requireFile(config)
      const roots = ['instance', 'roster'] as const
      const movedAt = await database.transact({ roots, first: spend }, async (tx) => {
        await requireMover(tx, merchants.admission(), pubkey)
        requireRoomForMove(config, disk.freeBytes())
        const at = now()
        await tx.facts.pin('moved', String(at))
        // Also when the commit stands only after its caller was told that the disk failed.
        tx.afterCommit(() => {
          log.warn('move.begun')
          restart()
        })
        return at
      })
      return { movedAt }
    },
    file: notBegun,
    back: notBegun,
  }
}

/** The way in. Pieces go to a file that a start removes. */
export function createMoveIn(runtime: Runtime, { merchants, restart }: MovingParts): MoveIn {
  const { config, log, maintenance, requireDisk } = runtime
  const path = arrivingPath(config)
  let ticket: string | null = null
  let bytes = 0
  let checking = false

  const requireTicket = (given: string | null) => {
    if (ticket === null || given === null) throw new Refusal('move-not-allowed')
    if (!sameMac(Buffer.from(given), Buffer.from(ticket))) throw new Refusal('move-not-allowed')
    if (checking) throw new Refusal('overloaded', { retryAfter: 5 })
  }
  return {
    async open(code, address) {
      requireFile(config)
      const kind = merchants.admission()
      if (kind === 'let-in') {
        merchants.trySetup(address)
        await requireSetupCode(merchants, code ?? '')
      } else if (kind !== 'private') throw new Refusal('move-not-allowed')
      if (checking) throw new Refusal('overloaded', { retryAfter: 5 })
      if (!untouched(config.dataDir)) throw new Refusal('move-not-empty')
      ticket = randomBytes(24).toString('base64url')
      bytes = 0
      return { ticket }
    },
    take(given, at, piece) {
      requireTicket(given)
      requireDisk()
      if (at === 0) bytes = 0
      if (at !== bytes || at + piece.length > limits.moveFileBytesMax) {
        throw new Refusal('field-invalid', { field: 'at' })
      }
      writeAt(path, at, piece)
      bytes += piece.length
      return { bytes }
    },
    async finish(given, passphrase) {
      requireTicket(given)
      if (bytes === 0) throw new Refusal('move-file-damaged')
      checking = true
      try {
        const { npub } = await stageArrival(config, { file: path, passphrase }, maintenance.arrival)
        ticket = null
        rmSync(path, { force: true })
        log.warn('move.staged', { npub })
        restart()
        return { npub }
      } catch (cause) {
        // Other words need no new upload. After any other failure the file comes anew.
        if (!OperatorError.is(cause, 'passphrase')) {
          bytes = 0
          rmSync(path, { force: true })
        }
        throw asRefusal(cause, log)
      } finally {
        checking = false
      }
    },
  }
}

/** A move carries the file of the embedded engine. */
function requireFile({ databaseUrl }: Config): void {
  if (databaseUrl !== null) throw new Refusal('move-not-allowed')
}

/** The file of a move while it arrives. */
function arrivingPath({ dataDir }: Config): string {
  return join(dataDir, 'arriving.cuponera')
}

/** Remove the rest of a file that did not arrive. */
export function removeArriving(config: Config): void {
  rmSync(arrivingPath(config), { force: true })
}

/** Write the next piece. What a try before left of it, on a full disk, is cut off first. */
function writeAt(path: string, at: number, piece: Uint8Array): void {
  const file = openSync(path, at === 0 ? 'w' : 'r+', 0o600)
  try {
    ftruncateSync(file, at)
    for (let from = 0; from < piece.length; ) {
      from += writeSync(file, piece, from, piece.length - from, at + from)
    }
  } finally {
    closeSync(file)
  }
}

/** An arrival that fails for another reason than these is damaged for its sender. */
function asRefusal(cause: unknown, log: Log): unknown {
  if (!(cause instanceof OperatorError)) return cause
  log.warn('move.refused', { why: cause.message })
  if (cause.kind === 'passphrase') return new Refusal('move-passphrase-wrong')
  if (cause.kind === 'not-empty') return new Refusal('move-not-empty')
  const refused = refusalOf(cause)
  return refused === cause ? new Refusal('move-file-damaged') : refused
}
