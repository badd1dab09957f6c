import { OperatorError } from '../base/operator-error.ts'
import { openSchnorr } from '../crypto/schnorr.ts'
import type { Database } from '../db/database.ts'
import type { Pins } from '../db/inspect.ts'
import { npubOf } from '../nostr/keys.ts'
import { createCardKey, fingerprintOf, type LoadedKeys } from './keyring.ts'
import type { Stores } from './stores.ts'

type Pinned = Pick<Stores, 'facts'>

/** Bind the database to one manager key and one store key for ever. Throws OperatorError for others. */
export async function pinKeys(
  database: Database<Pinned>,
  keys: LoadedKeys,
  manager: string,
): Promise<void> {
  const fingerprint = fingerprintOf(keys.storeKey)
  const pinned = await database.snapshot(async (tx) => ({
    manager: await tx.facts.find('manager'),
    storeKey: await tx.facts.find('store-key'),
  }))
  if (pinned.manager !== null && pinned.manager !== manager) {
    throw new OperatorError(
      `this database belongs to the manager key ${npubOf(pinned.manager)}, not to ${npubOf(manager)}: set COUPON_MANAGER_NSEC to that one`,
    )
  }
  if (pinned.storeKey !== null && pinned.storeKey !== fingerprint) {
    throw new OperatorError(
      'this database was written with another store key: set STORE_KEY to that one, or bring it back with "cuponera keys import"',
    )
  }
  if (pinned.manager !== null && pinned.storeKey !== null) return
  await database.transact({ roots: ['instance'] }, async (tx) => {
    await tx.facts.pin('manager', manager)
    await tx.facts.pin('store-key', fingerprint)
  })
}

/** The key of the cards, created when there is none yet. The first card binds the database to it. */
export async function settleCardKey(
  database: Database<Pinned>,
  { cardMasterKey }: LoadedKeys,
  dataDir: string,
): Promise<Uint8Array> {
  const pinned = await database.snapshot((tx) => tx.facts.find('card-key'))
  if (cardMasterKey === null && pinned === null) return createCardKey(dataDir)
  if (cardMasterKey === null) {
    throw new OperatorError(
      'the key of the cards (keys/card.key) is missing, and there are cards: bring it back with "cuponera keys import", or set CARD_MASTER_KEY',
    )
  }
  if (pinned !== null && pinned !== fingerprintOf(cardMasterKey)) {
    throw new OperatorError(
      'the cards of this database have keys of another CARD_MASTER_KEY: set it to that one, or bring it back with "cuponera keys import"',
    )
  }
  return cardMasterKey
}

/** Description of the first key that differs from the pins of a database, or null. */
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
