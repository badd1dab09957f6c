import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Config } from '../app/config.ts'
import { databasePath, openDataDir } from '../app/data.ts'
import { findKeys, fingerprintOf, type LoadedKeys, parseKeyring } from '../app/keyring.ts'
import { systemClock } from '../base/clock.ts'
import { OperatorError } from '../base/operator-error.ts'
import { openSchnorr } from '../crypto/schnorr.ts'
import type { Pins } from '../db/inspect.ts'
import { relayBeside } from '../db/relay-snapshot.ts'
import { discard, prepareRestore, replaceDatabase } from '../db/restore.ts'
import { npubOf } from '../nostr/keys.ts'
import { eventsOf } from './backup.ts'
import { rowsOf } from './check.ts'
import { withoutServer } from './control.ts'

/** What going back in time means; the operator must have read it. */
const consequences = `Going back means: whatever happened since the backup is unknown to the service again. Vouchers that were redeemed, voided or handed on since become spendable again, by whoever still has their old nonce (their new holders' are unknown); vouchers minted since no longer exist; counters, coupons, minters, merchants that were let in and announcements are as they were, and so is what the embedded relay holds. Cards wait until a writer confirms a counter higher than the one in the backup. Everybody signs in again. To limit the loss, void the open vouchers of each coupon before you open (DELETE /api/coupons/{id}/mints) and mint new ones for those who ask, and have each merchant announce the service again.`

/** Put a backup in the place of the database, after checking it and its keys. */
export async function restore(config: Config, file: string, force: boolean): Promise<number> {
  const { dataDir } = config
  const database = databasePath(dataDir)
  openDataDir(dataDir)
  return withoutServer(config, async () => {
    if (existsSync(database) && !force) {
      throw new OperatorError(
        `${database} exists: --force replaces it, and keeps it under another name\n${consequences}`,
      )
    }
    const candidate = await prepareRestore(resolve(file), database, systemClock())
    try {
      const missing = compareKeys(config, candidate.pins)
      const { relay } = candidate
      const place = relayBeside(database)
      // The relay first: what decides whether there is something to serve comes last.
      const relayReplaced = relay && replaceDatabase(relay, place, systemClock())
      const replaced = replaceDatabase(candidate, database, systemClock())
      console.log(
        `${database}: restored from ${file}, checked: ${rowsOf(candidate.check)}${eventsOf(relay?.events ?? null)}`,
      )
      if (replaced) console.log(`The database before is kept as ${replaced}`)
      if (relayReplaced) console.log(`The relay's events before are kept as ${relayReplaced}`)
      if (!relay) console.log(`This backup holds no events of the relay: ${place} is left as it is`)
      if (missing) console.log(missing)
      console.log(consequences)
      return 0
    } finally {
      discard(candidate.path)
    }
  })
}

/** What is to be done about keys that are not there yet. Throws OperatorError when they are others. */
function compareKeys(config: Config, pins: Pins): string | null {
  const texts = Object.entries(findKeys(config)).map(([name, key]) => [name, key?.text] as const)
  const needed = (name: string) => name !== 'cardMasterKey' || pins.cardKey !== null
  if (texts.some(([name, text]) => text === undefined && needed(name))) {
    const owner = pins.manager ? ` of ${npubOf(pins.manager)}` : ''
    return `Its keys${owner} are not here yet: bring them with "cuponera keys import" before the start.`
  }
  const keys = parseKeyring(Object.fromEntries(texts))
  if (!keys) throw new OperatorError('a file of keys is damaged: bring it back first')
  const wrong = findMismatch(keys, pins)
  if (wrong === null) return null
  throw new OperatorError(
    `the backup belongs to ${wrong}; nothing was replaced. Restore it in a new data directory: "cuponera keys import" there first, then restore`,
  )
}

/** Which key is not the one that a database is pinned to, in words; null when all are. */
export function findMismatch(keys: LoadedKeys, pins: Pins): string | null {
  const manager = openSchnorr().keypair(keys.managerSecret).pubkey.toHex()
  if (pins.manager !== null && pins.manager !== manager) {
    return `the manager key ${npubOf(pins.manager)}, not to ${npubOf(manager)}`
  }
  if (pins.storeKey !== null && pins.storeKey !== fingerprintOf(keys.storeKey)) {
    return 'another store key than this one'
  }
  const { cardMasterKey } = keys
  if (pins.cardKey && cardMasterKey && pins.cardKey !== fingerprintOf(cardMasterKey)) {
    return 'another key of the cards than this one'
  }
  return null
}
