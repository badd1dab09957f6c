import { randomBytes } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Config } from './config.ts'
import { nsecOf, parseSecret } from './nostr/keys.ts'

/** The secrets of this service. */
export type Keyring = {
  /** 32 bytes; signs vouchers. */
  managerSecret: Uint8Array
  /** 32 bytes; seals what the database must repeat. */
  storeKey: Uint8Array
  sessionSecret: string
}

/** A key that the database needs is not there, or not readable; the message says which and what to do. */
export class KeyringError extends Error {}

const files = {
  managerSecret: 'manager.nsec',
  storeKey: 'store.key',
  sessionSecret: 'session.secret',
}

/** Where the keys lie when no setting brings them. */
export function keyPath(dataDir: string, key: keyof Keyring): string {
  return join(dataDir, 'keys', files[key])
}

/**
 * Keys from the settings, else from their files. A missing one is made and kept only when `mayCreate`:
 * a database whose keys are lost must not silently go on with others.
 */
export function loadKeyring(config: Config, mayCreate: boolean): Keyring {
  const load = <T>(
    key: keyof Keyring,
    parse: (text: string) => T | null,
    make: () => string,
  ): T => {
    const path = keyPath(config.dataDir, key)
    if (!existsSync(path)) {
      if (!mayCreate) {
        throw new KeyringError(
          `${path} is missing, and the database needs it: bring it back with "cuponera keys import"`,
        )
      }
      writeKey(config.dataDir, key, make())
    }
    const value = parse(readFileSync(path, 'utf8').trim())
    if (value === null) throw new KeyringError(`${path} does not hold a key`)
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
  }
}

/** Keep a key in its file (0600), on disk before this returns. */
export function writeKey(dataDir: string, key: keyof Keyring, text: string): void {
  const path = keyPath(dataDir, key)
  mkdirSync(join(dataDir, 'keys'), { recursive: true, mode: 0o700 })
  const file = openSync(`${path}.new`, 'w', 0o600)
  writeSync(file, `${text}\n`)
  fsyncSync(file)
  closeSync(file)
  renameSync(`${path}.new`, path)
  const directory = openSync(join(dataDir, 'keys'), 'r')
  fsyncSync(directory)
  closeSync(directory)
}

function newSecret(): Uint8Array {
  // Outside the curve's order with a chance of 2^-128; then once more.
  return parseSecret(randomBytes(32).toString('hex')) ?? newSecret()
}

function parseStoreKey(text: string): Uint8Array | null {
  return /^[0-9a-f]{64}$/i.test(text) ? Uint8Array.fromHex(text) : null
}

function parseSession(text: string): string | null {
  return Buffer.byteLength(text) >= 32 ? text : null
}
