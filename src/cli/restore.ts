import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Config } from '../app/config.ts'
import { databasePath, openDataDir, requireFile } from '../app/data.ts'
import { findKeys, parseKeyring } from '../app/keyring.ts'
import { findMismatch } from '../app/keys.ts'
import { systemClock } from '../base/clock.ts'
import { OperatorError } from '../base/operator-error.ts'
import { type Pins, wasMoved } from '../db/inspect.ts'
import { couponSchema } from '../db/migrations.ts'
import { shownAddress } from '../db/postgres/address.ts'
import { relayBeside } from '../db/relay-snapshot.ts'
import { discard, prepareRestore, replaceDatabase } from '../db/restore.ts'
import { npubOf } from '../nostr/keys.ts'
import { eventsOf } from './backup.ts'
import { rowsOf } from './check.ts'
import { withoutServer } from './control.ts'

/** Consequences of a restore. The operator must have read them. */
const consequences = `A restore goes back in time: the service no longer knows anything that happened since the backup. Vouchers that were redeemed, voided or handed on since then become spendable again by anybody who still has the old nonce (the nonces of their new holders are unknown). Vouchers minted since then no longer exist. Counters, coupons, minters, merchants that were let in, announcements and the events of the embedded relay are as they were. Cards wait until a writer confirms a counter higher than the one in the backup. All users must sign in again. To limit the loss, void the open vouchers of each coupon before you open (DELETE /api/coupons/{id}/mints), mint new ones on request, and let each merchant announce the service again.`

type Options = { force: boolean }

/** Restore a backup: the file, or the database of PostgreSQL that its own tools brought back. */
export function restore(config: Config, file: string | undefined, options: Options) {
  if (config.databaseUrl !== null && file === undefined) {
    return settleServer(config.databaseUrl, options)
  }
  requireFile(config, 'restore')
  if (file === undefined) throw new OperatorError('restore needs FILE', 'usage')
  return restoreFile(config, file, options)
}

/** Settle a database of PostgreSQL that was brought back, after a check. */
async function settleServer(url: string, { force }: Options): Promise<number> {
  const address = shownAddress(url)
  if (!force) {
    throw new OperatorError(
      `--force ends all sessions of the service at ${address}, and lets its cards wait\n${consequences}`,
    )
  }
  const { settleBroughtBack } = await import('../db/postgres/move/going-back.ts')
  const report = await settleBroughtBack(url, couponSchema, systemClock())
  console.log(`${address}: brought back, checked: ${rowsOf(report)}`)
  console.log(consequences)
  return 0
}

/** Replace the database by a backup, after a check of the backup and of the keys. */
async function restoreFile(config: Config, file: string, { force }: Options): Promise<number> {
  const { dataDir } = config
  const database = databasePath(dataDir)
  openDataDir(dataDir)
  const replace = async () => {
    if (existsSync(database) && !force) {
      throw new OperatorError(
        `${database} exists: --force replaces it, and keeps it under another name\n${consequences}`,
      )
    }
    if (existsSync(database) && wasMoved(database)) {
      throw new OperatorError(
        'this service was moved to another computer, and a backup would open it here, too: restore there, or open this one with "cuponera move back" first',
      )
    }
    // The backup is copied and checked before anything is replaced: a damaged one must not cost the database.
    const candidate = await prepareRestore(resolve(file), database, systemClock())
    try {
      const missing = compareKeys(config, candidate.pins)
      const { relay } = candidate
      const place = relayBeside(database)
      // The relay's file is replaced first. A crash in between leaves the vouchers in their old state.
      const relayReplaced = relay && replaceDatabase(relay, place, systemClock())
      const replaced = replaceDatabase(candidate, database, systemClock())
      console.log(
        `${database}: restored from ${file}, checked: ${rowsOf(candidate.check)}${eventsOf(relay?.events ?? null)}`,
      )
      if (replaced) console.log(`The database before is kept as ${replaced}`)
      if (relayReplaced) console.log(`The relay's events before are kept as ${relayReplaced}`)
      if (!relay) console.log(`This backup holds no events of the relay: ${place} stays as it is`)
      if (missing) console.log(missing)
      console.log(consequences)
      return 0
    } finally {
      discard(candidate.path)
    }
  }
  // A log that cannot be stored may be the reason for the restore: it is kept aside with its database, and not folded.
  return withoutServer(config, replace, [])
}

/** Advice about keys that are missing, or null. Throws OperatorError if the keys belong to another database. */
function compareKeys(config: Config, pins: Pins): string | null {
  const texts = Object.entries(findKeys(config)).map(([name, key]) => [name, key?.text] as const)
  // A database without cards was never pinned to a card key, so it does not need one.
  const needed = (name: string) => name !== 'cardMasterKey' || pins.cardKey !== null
  if (texts.some(([name, text]) => text === undefined && needed(name))) {
    const owner = pins.manager ? ` of ${npubOf(pins.manager)}` : ''
    return `Its keys${owner} are not here yet: bring them with "cuponera keys import" before the start.`
  }
  const keys = parseKeyring(Object.fromEntries(texts))
  if (!keys) throw new OperatorError('a key file is damaged: restore it first')
  const wrong = findMismatch(keys, pins)
  if (wrong === null) return null
  throw new OperatorError(
    `the backup belongs to ${wrong}; nothing was replaced. Restore it in a new data directory: "cuponera keys import" there first, then restore`,
  )
}
