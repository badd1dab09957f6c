import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { hexOf } from '../base/bytes.ts'
import { makeDirectory, ownLikeDirectory, writeDurably } from '../base/durable.ts'
import { OperatorError } from '../base/operator-error.ts'
import { mac } from '../crypto/seal.ts'
import { nsecOf, parseSecret } from '../nostr/keys.ts'
import type { Config } from './config.ts'
import { settings } from './settings.ts'

/** The secrets of this service. */
export type Keyring = {
  /** 32 bytes; signs vouchers. */
  managerSecret: Uint8Array
  /** 32 bytes; seals what the database must repeat. */
  storeKey: Uint8Array
  sessionSecret: string
  /** 16 bytes; the keys of all cards follow from it. */
  cardMasterKey: Uint8Array
}

/** The keys at the start. The card master key may be missing: the database says later whether there are cards. */
export type LoadedKeys = Omit<Keyring, 'cardMasterKey'> & { cardMasterKey: Uint8Array | null }

const files = {
  managerSecret: 'manager.nsec',
  storeKey: 'store.key',
  sessionSecret: 'session.secret',
  cardMasterKey: 'card.key',
}

/** The file of a key that no setting brings. */
export function keyPath(dataDir: string, key: keyof Keyring): string {
  return join(dataDir, 'keys', files[key])
}

/**
 * Keys from the settings, else from their files. A missing one is made and kept only when `mayCreate`:
 * a database whose keys are lost must not silently go on with others. A new session secret only ends sessions, which are
 * short: it is made in any case unless the database is `shared` by nodes that have the same one.
 */
export function loadKeyring(config: Config, mayCreate: boolean, shared = false): LoadedKeys {
  const load = <T>(
    key: keyof Keyring,
    parse: (text: string) => T | null,
    make: () => string,
  ): T => {
    const path = keyPath(config.dataDir, key)
    if (!existsSync(path)) {
      const ofNodes = key === 'sessionSecret'
      if (!mayCreate && (shared || !ofNodes)) {
        const needed = ofNodes ? 'all nodes have the same one' : 'the database needs it'
        throw new OperatorError(
          `${path} is missing, and ${needed}: bring it back with "cuponera keys import"`,
        )
      }
      writeKey(config.dataDir, key, make())
    }
    const value = parse(readFileSync(path, 'utf8').trim())
    if (value === null) throw new OperatorError(`${path} does not hold a key`)
    return value
  }
  return {
    managerSecret:
      config.managerSecret ?? load('managerSecret', parseSecret, () => nsecOf(newSecret())),
    storeKey:
      config.storeKey ?? load('storeKey', parseStoreKey, () => randomBytes(32).toString('hex')),
    sessionSecret:
      config.sessionSecret ??
      load('sessionSecret', parseSession, () => randomBytes(32).toString('base64url')),
    cardMasterKey:
      config.cardMasterKey ??
      (mayCreate || existsSync(keyPath(config.dataDir, 'cardMasterKey'))
        ? load('cardMasterKey', parseCardKey, newCardKey)
        : null),
  }
}

/** Create the card master key of a database that is older than cards and has none. */
export function createCardKey(dataDir: string): Uint8Array {
  const text = newCardKey()
  writeKey(dataDir, 'cardMasterKey', text)
  return Uint8Array.fromHex(text)
}

/** A key as text, and its source: the name of a setting, or a file. */
type FoundKey = { text: string; from: string }

/** The existing keys as texts; null for a missing one. Creates none. */
export function findKeys(config: Config): Record<keyof Keyring, FoundKey | null> {
  const find = (key: keyof Keyring, set: string | null): FoundKey | null => {
    if (set !== null) return { text: set, from: `the setting ${settings[key].variable}` }
    const path = keyPath(config.dataDir, key)
    return existsSync(path) ? { text: readFileSync(path, 'utf8').trim(), from: path } : null
  }
  const { managerSecret, storeKey, sessionSecret, cardMasterKey } = config
  return {
    managerSecret: find('managerSecret', managerSecret && nsecOf(managerSecret)),
    storeKey: find('storeKey', storeKey && hexOf(storeKey)),
    sessionSecret: find('sessionSecret', sessionSecret),
    cardMasterKey: find('cardMasterKey', cardMasterKey && hexOf(cardMasterKey)),
  }
}

/** Keys as texts, complete. A database from before cards has no key for them. */
export type KeyTexts = Record<Exclude<keyof Keyring, 'cardMasterKey'>, string> & {
  cardMasterKey?: string
}

export const keyNames = ['managerSecret', 'storeKey', 'sessionSecret', 'cardMasterKey'] as const
export const keyLabels: Record<keyof Keyring, string> = {
  managerSecret: 'manager key',
  storeKey: 'store key',
  sessionSecret: 'session secret',
  cardMasterKey: 'key of the cards',
}

/** The texts of all keys. Throws OperatorError if one is missing, because half an export is no use. */
export function requireKeyTexts(config: Config): KeyTexts {
  const found = findKeys(config)
  const text = (name: keyof Keyring) => {
    const key = found[name]
    if (!key) throw new OperatorError(`there is no ${keyLabels[name]} yet: start the service once`)
    return key.text
  }
  return {
    managerSecret: text('managerSecret'),
    storeKey: text('storeKey'),
    sessionSecret: text('sessionSecret'),
    // The first start of a version with cards creates this key.
    ...(found.cardMasterKey && { cardMasterKey: found.cardMasterKey.text }),
  }
}

/** Parse keys from texts. Null when one is invalid; the card master key may be absent. */
export function parseKeyring(texts: Partial<Record<keyof Keyring, unknown>>): LoadedKeys | null {
  const { managerSecret, storeKey, sessionSecret, cardMasterKey = null } = texts
  if (![managerSecret, storeKey, sessionSecret].every((text) => typeof text === 'string')) {
    return null
  }
  const manager = parseSecret(String(managerSecret))
  const store = parseStoreKey(String(storeKey))
  const session = parseSession(String(sessionSecret))
  const card = cardMasterKey === null ? null : parseCardKey(String(cardMasterKey))
  if (manager === null || store === null || session === null) return null
  if (card === null && cardMasterKey !== null) return null
  return { managerSecret: manager, storeKey: store, sessionSecret: session, cardMasterKey: card }
}

/** The fingerprint of a store key or a card master key, in hex. The database is pinned to it. */
export function fingerprintOf(key: Uint8Array): string {
  const binding = { purpose: 'fingerprint', secret: '', key: '' } as const
  return Buffer.from(mac(key, binding)).toString('hex')
}

/** Write a key to its file (0600). It is on disk when this returns. */
export function writeKey(dataDir: string, key: keyof Keyring, text: string): void {
  const directory = join(dataDir, 'keys')
  makeDirectory(directory)
  ownLikeDirectory(directory)
  writeDurably(keyPath(dataDir, key), `${text}\n`)
}

function newSecret(): Uint8Array {
  // A random key is invalid with a chance of 2^-128; then the next one is taken.
  return parseSecret(randomBytes(32).toString('hex')) ?? newSecret()
}

function parseStoreKey(text: string): Uint8Array | null {
  return /^[0-9a-f]{64}$/i.test(text) ? Uint8Array.fromHex(text) : null
}

function newCardKey(): string {
  return randomBytes(16).toString('hex')
}

function parseCardKey(text: string): Uint8Array | null {
  return /^[0-9a-f]{32}$/i.test(text) ? Uint8Array.fromHex(text) : null
}

function parseSession(text: string): string | null {
  return Buffer.byteLength(text) >= 32 ? text : null
}
