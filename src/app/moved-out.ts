import { OperatorError } from '../base/operator-error.ts'
import { Refusal } from '../base/refusal.ts'
import { requireMover } from '../move/mover.ts'
import type { MoveOut } from '../move/service.ts'
import type { Caller } from '../session/caller.ts'
import { readAdmission } from './management.ts'
import { moveBack, moveCopyPath, refusalOf, removeMoveCopy, streamMove } from './move.ts'
import type { Runtime } from './runtime.ts'
import type { Stores } from './stores.ts'

/** Refuse `move-not-allowed` where the service goes on in a database of another kind: a file would be a second one. */
async function requireFileMove({ facts }: Pick<Stores, 'facts'>): Promise<void> {
  if ((await facts.find('moved-to')) !== null) throw new Refusal('move-not-allowed')
}

/** Use up the signature of a caller. */
export type Spend = (caller: Caller) => Promise<void>

type MovedOutParts = { spend: Spend; restart: () => void }

/**
 * The rest of the way out, at a service that was moved. The copy is made anew at each start: one from before a
 * `move back` lacks answers. From the first step of a way back on, no file leaves any more.
 */
export function createMovedOut(
  { config, database, log, maintenance, now }: Runtime,
  { spend, restart }: MovedOutParts,
): MoveOut {
  removeMoveCopy(config.dataDir)
  /** Ways back that began, and those of them that are known to be undone. */
  let begun = 0
  let undone = 0
  let copy: Promise<unknown> | null = null
  const prepare = async () => {
    await database.snapshot(requireFileMove)
    copy ??= maintenance.backup(moveCopyPath(config.dataDir), true).catch((cause: unknown) => {
      copy = null
      throw cause
    })
    return copy
  }
  // A large database takes its time. It begins before somebody asks for the file.
  prepare().catch((cause: unknown) => {
    if (!OperatorError.is(cause, 'stopping') && !(cause instanceof Refusal))
      log.warn('move.copy-failed', { cause })
  })
  const requireMoved = () => {
    if (begun > undone) throw new Refusal('move-not-begun')
  }
  const admit = async (caller: Caller) => {
    await spend(caller)
    const movedAt = await database.snapshot(async (tx) => {
      const admission = readAdmission(config, await tx.facts.find('exposed'))
      await requireMover(tx, admission, caller.pubkey)
      await requireFileMove(tx)
      return tx.facts.find('moved')
    })
    if (movedAt === null) throw new Refusal('move-not-begun')
    return Number(movedAt)
  }
  /**
   * Refuse `move-not-begun` unless every way back that failed is undone for good: it may stand later, or at the next
   * start, until a later write that found the service closed is on disk.
   */
  const requireUndone = async () => {
    const known = begun
    if (known === undone) return
    await database.transact({ roots: ['instance'] }, async ({ facts }) => {
      if ((await facts.find('moved')) === null) throw new Refusal('move-not-begun')
      await facts.touch(now())
    })
    undone = Math.max(undone, known)
  }
  return {
    // A retry, when the answer was lost.
    async begin(caller) {
      const movedAt = await admit(caller)
      await requireUndone()
      return { movedAt }
    },
    async file(caller, passphrase) {
      await admit(caller)
      await requireUndone()
      await prepare().catch((cause: unknown) => {
        throw refusalOf(cause)
      })
      const createdAt = now()
      const stream = await streamMove(config, passphrase, createdAt)
      requireMoved()
      log.warn('move.file')
      return { stream: guard(stream, requireMoved), createdAt }
    },
    async back(caller) {
      await admit(caller)
      begun++
      const done = () => {
        log.warn('move.back')
        restart()
      }
      await moveBack(database, { spend: caller.spend, done })
    },
  }
}

/** The same stream, which breaks off when `check` throws before a piece. */
function guard(stream: ReadableStream<Uint8Array>, check: () => void): ReadableStream<Uint8Array> {
  const reader = stream.getReader()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { value, done } = await reader.read()
        try {
          check()
        } catch (cause) {
          await reader.cancel(cause)
          throw cause
        }
        if (done) controller.close()
        else controller.enqueue(value)
      },
      cancel: (why) => reader.cancel(why),
    },
    { highWaterMark: 0 },
  )
}
