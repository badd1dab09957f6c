import { resolve } from 'node:path'
import type { Config } from '../app/config.ts'
import { databasePath, openDataDir, requireFile } from '../app/data.ts'
import {
  closeForMove,
  findMoved,
  moveBack,
  moveCopyPath,
  removeMoveCopy,
  requireMovable,
  stageArrival,
  writeMove,
} from '../app/move.ts'
import type { Stores } from '../app/stores.ts'
import { systemClock } from '../base/clock.ts'
import { OperatorError } from '../base/operator-error.ts'
import { adoptArrival } from '../db/arrival.ts'
import { partialOf, refuseTarget, writeBackup } from '../db/backup.ts'
import type { Database } from '../db/database.ts'
import { prepareArrival } from '../db/restore.ts'
import { eventsOf } from './backup.ts'
import { rowsOf } from './check.ts'
import { databaseFile, withoutServer } from './control.ts'
import { onDatabase, onServer } from './on-database.ts'
import { readPassphrase } from './passphrase.ts'

/** The two sides of a move between a directory and a server. */
type Ends = { from: string | undefined; to: string | undefined }

type Options = { force: boolean; passphraseFile: string | undefined }

/**
 * Close this service for good and write everything of it to a file. The closing is durable before the database is
 * copied, so that no answer is missing from the copy.
 */
export async function moveOut(config: Config, file: string, options: Options): Promise<number> {
  requireFile(config, 'move')
  const target = resolve(file)
  const { dataDir } = config
  return withoutServer(config, async () => {
    const source = databaseFile(config)
    refuseTarget(source, target, options.force)
    const { passphraseFile } = options
    const given = passphraseFile !== undefined && (await readPassphrase(passphraseFile, 'new'))
    const passphrase = given || (await newPassphrase())
    await onDatabase(
      source,
      async (database) => {
        await requireMovable(database)
        await closeForMove(database, systemClock())
      },
      'run',
    )
    console.log('This service is closed from now on: it goes on at the other computer.')
    const copy = moveCopyPath(dataDir)
    try {
      const partial = partialOf(copy)
      const report = await writeBackup({ source, target: copy, partial, force: true })
      await writeMove(config, target, { passphrase, now: systemClock() })
      console.log(`${target}: checked: ${rowsOf(report.check)}${eventsOf(report.events)}`)
    } catch (cause) {
      console.error('There is no file. Try again, or open this service with "cuponera move back".')
      throw cause
    } finally {
      removeMoveCopy(dataDir)
    }
    if (!given) console.log(`Its passphrase, shown only now:\n\n  ${passphrase}\n`)
    console.log(
      'At the new computer: "cuponera move in FILE". Let it in at one computer only, and destroy the file then: two services with the same coupons would each redeem them.',
    )
    return 0
  })
}

async function newPassphrase(): Promise<string> {
  // Loaded here, since its list of words would slow down every start of the program.
  const { newMovePassphrase } = await import('../client/move-words.ts')
  return newMovePassphrase()
}

/** Let a service from another computer into an unused data directory. */
export async function moveIn(config: Config, file: string, options: Options): Promise<number> {
  requireFile(config, 'move')
  const { dataDir } = config
  const path = resolve(file)
  if (!(await Bun.file(path).exists())) throw new OperatorError(`there is no file ${path}`)
  openDataDir(dataDir)
  return withoutServer(config, async () => {
    const passphrase = await readPassphrase(options.passphraseFile, 'known')
    const { npub, check, events } = await stageArrival(
      config,
      { file: path, passphrase },
      prepareArrival,
    )
    adoptArrival(dataDir)
    console.log(
      `${databasePath(dataDir)}: the service of ${npub}, checked: ${rowsOf(check)}${eventsOf(events)}`,
    )
    console.log(
      'Start it, and destroy the file. Certificates stay: make new ones ("cuponera tls").',
    )
    return 0
  })
}

/** Move the database from a directory to a server, or back. One of both may be that of DATABASE_URL. */
export async function moveBetween(config: Config, ends: Ends): Promise<number> {
  const { from = config.databaseUrl, to = config.databaseUrl } = ends
  const usable = from !== null && to !== null && isServer(from) !== isServer(to)
  if (!usable) {
    throw new OperatorError(
      'move needs --from and --to: a data directory and postgres://…, in either order (or: move out, move in, move back)',
      'usage',
    )
  }
  // Loaded here, since a service on a file needs nothing of it.
  const { moveToFile, moveToServer } = await import('./move-server.ts')
  return isServer(to) ? moveToServer(from, to) : moveToFile(config, from, to)
}

function isServer(place: string): boolean {
  return /^postgres(ql)?:/.test(place)
}

/** Open a service again that was closed for a move. */
export async function moveBackHere(config: Config, force: boolean): Promise<number> {
  const reopen = async (database: Database<Stores>) => {
    if ((await findMoved(database)) === null) {
      throw new OperatorError('this service was not moved')
    }
    if (!force) throw new OperatorError(`--force opens this service again\n${danger}`)
    await moveBack(database)
  }
  return withoutServer(config, async () => {
    if (config.databaseUrl !== null) await onServer(config.databaseUrl, reopen)
    else await onDatabase(databaseFile(config), reopen, 'run')
    removeMoveCopy(config.dataDir)
    console.log('This service is open again. Destroy the file of the move.')
    return 0
  })
}

const danger =
  'First make sure that the service runs at no other computer, and destroy every copy of the file of the move: two services with the same coupons would each redeem them.'
