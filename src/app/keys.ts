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
  const pinned = await database.snapshot(pinsIn)
  requireOwn(pinned)
  if (pinned.manager !== null && pinned.storeKey !== null) return
  await database.transact({ roots: ['instance'] }, async (tx) =>
    // Another node may have pinned its keys since.
    requireOwn({
      manager: await tx.facts.pin('manager', manager),
      storeKey: await tx.facts.pin('store-key', fingerprint),
    }),
  )

  function requireOwn(pins: Pick<Pins, 'manager' | 'storeKey'>): void {
    if (pins.manager !== null && pins.manager !== manager) {
      throw new OperatorError(
        `this database belongs to the manager key ${npubOf(pins.manager)}, not to ${npubOf(manager)}: set COUPON_MANAGER_NSEC to that one`,
      )
    }
    if (pins.storeKey !== null && pins.storeKey !== fingerprint) {
      throw new OperatorError(
        'this database was written with another store key: set STORE_KEY to that one, or bring it back with "cuponera keys import"',
      )
    }
  }
}

/** True if the database is bound to keys. */
export async function hasPins(database: Database<Pinned>): Promise<boolean> {
  const { manager, storeKey } = await database.snapshot(pinsIn)
  return manager !== null || storeKey !== null
}

async function pinsIn({ facts }: Pinned): Promise<Pick<Pins, 'manager' | 'storeKey'>> {
  return { manager: await facts.find('manager'), storeKey: await facts.find('store-key') }
}

/**
 * The key of the cards, created when there is none yet. The first card binds the database to it; with `shared`, by
 * several nodes, the first start does.
 */
export async function settleCardKey(
  database: Database<Pinned>,
  { cardMasterKey }: LoadedKeys,
  { dataDir, shared }: { dataDir: string; shared: boolean },
): Promise<Uint8Array> {
  const pinned = await database.snapshot((tx) => tx.facts.find('card-key'))
  if (cardMasterKey === null && pinned !== null) {
    throw new OperatorError(
      `the key of the cards (keys/card.key) is missing, and ${shared ? 'the database is bound to it' : 'there are cards'}: bring it back with "cuponera keys import", or set CARD_MASTER_KEY`,
    )
  }
  const key = cardMasterKey ?? createCardKey(dataDir)
  const fingerprint = fingerprintOf(key)
  requireOwn(pinned)
  if (pinned === null && shared) {
    await database.transact({ roots: ['instance'] }, async (tx) =>
      requireOwn(await tx.facts.pin('card-key', fingerprint)),
    )
  }
  return key

  function requireOwn(pin: string | null): void {
    if (pin === null || pin === fingerprint) return
    throw new OperatorError(
      'the cards of this database have keys of another CARD_MASTER_KEY: set it to that one, or bring it back with "cuponera keys import"',
    )
  }
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
