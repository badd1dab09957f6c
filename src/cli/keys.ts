import { existsSync, readFileSync, renameSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { encrypt } from 'nostr-tools/nip49'
import type { Config } from '../app/config.ts'
import { databasePath, openDataDir } from '../app/data.ts'
import {
  findKeys,
  fingerprintOf,
  type Keyring,
  type KeyTexts,
  keyLabels,
  keyNames,
  keyPath,
  parseKeyring,
  requireKeyTexts,
  writeKey,
} from '../app/keyring.ts'
import { findMismatch } from '../app/keys.ts'
import { settings } from '../app/settings.ts'
import { systemClock } from '../base/clock.ts'
import { writeDurably } from '../base/durable.ts'
import { parseJsonObject } from '../base/json.ts'
import { limits } from '../base/limits.ts'
import { OperatorError } from '../base/operator-error.ts'
import { openKeyFile, sealKeyFile } from '../crypto/key-file.ts'
import { openSchnorr } from '../crypto/schnorr.ts'
import { partialOf, refuseTarget } from '../db/backup.ts'
import { type Pins, readPins } from '../db/inspect.ts'
import { npubOf, parseSecret } from '../nostr/keys.ts'
import { withoutServer } from './control.ts'
import { readPassphrase } from './passphrase.ts'

type Options = { force: boolean; passphraseFile: string | undefined }
/** Show the keys of the service and the source of each one. It prints no secret. */
export async function showKeys(config: Config): Promise<number> {
  const found = findKeys(config)
  const print = (name: keyof Keyring, say: (text: string) => string[]) => {
    const key = found[name]
    const lines = key
      ? [...say(key.text), `from ${key.from}`]
      : ['none yet: the first start makes it']
    console.log(`${keyLabels[name]}\n${lines.map((line) => `  ${line}`).join('\n')}`)
  }
  print('managerSecret', (text) => {
    const pubkey = pubkeyOf(text)
    return pubkey ? [npubOf(pubkey), pubkey] : ['damaged']
  })
  const fingerprint = (digits: number) => (text: string) => [
    text.length === digits && /^[0-9a-f]+$/i.test(text)
      ? `fingerprint ${fingerprintOf(Uint8Array.fromHex(text)).slice(0, 16)}`
      : 'damaged',
  ]
  print('storeKey', fingerprint(64))
  print('sessionSecret', () => [])
  print('cardMasterKey', fingerprint(32))
  return 0
}

/** Write all keys to a file, encrypted with a passphrase. */
export async function exportKeys(config: Config, file: string, options: Options): Promise<number> {
  const target = resolve(file)
  refuseTarget(databasePath(config.dataDir), target, options.force)
  const texts = requireKeyTexts(config)
  const keys = parseKeyring(texts)
  if (!keys) throw new OperatorError('a key is damaged: "cuponera keys show" says which')
  const passphrase = await readPassphrase(options.passphraseFile, 'new')
  const npub = npubOf(openSchnorr().keypair(keys.managerSecret).pubkey.toHex())
  writeDurably(target, sealKeyFile(JSON.stringify(texts), npub, passphrase), partialOf(target))
  console.log(`${target}: the keys of ${npub}. Nobody can open it without the passphrase.`)
  return 0
}

/** Print the manager key, encrypted with a passphrase in the format of other Nostr programs (NIP-49). */
export async function exportNcryptsec(config: Config, options: Options): Promise<number> {
  const { managerSecret } = findKeys(config)
  const secret = managerSecret && parseSecret(managerSecret.text)
  if (!secret) throw new OperatorError('there is no manager key yet')
  const passphrase = await readPassphrase(options.passphraseFile, 'new')
  console.log(encrypt(secret, passphrase))
  return 0
}

/** Import exported keys into the data directory. Throws OperatorError if its database belongs to other keys. */
export async function importKeys(config: Config, file: string, options: Options): Promise<number> {
  const content = readKeyFile(resolve(file))
  const { dataDir } = config
  openDataDir(dataDir)
  return withoutServer(config, async () => {
    const opened = openKeyFile(content, await readPassphrase(options.passphraseFile, 'known'))
    const texts = parseJsonObject(opened, limits.keyFileBytesMax)
    const keys = texts && parseKeyring(texts)
    if (!keys) throw new OperatorError('the file does not hold keys')
    // With a wrong store key no kept answer could be opened, and with a wrong manager key old vouchers lose their
    // signer. So the pins in the database decide, and --force does not change that.
    const pins = await pinsOf(config)
    const wrong = pins && findMismatch(keys, pins)
    if (wrong) throw new OperatorError(`the database belongs to ${wrong}: nothing was replaced`)
    replaceKeys(config, texts as KeyTexts, options.force)
    const npub = npubOf(openSchnorr().keypair(keys.managerSecret).pubkey.toHex())
    console.log(`${dataDir} has the keys of ${npub}`)
    return 0
  })
}

/** The keys that the database of the service belongs to. Null if there is no database yet. */
async function pinsOf({ dataDir, databaseUrl }: Config): Promise<Pins | null> {
  if (databaseUrl !== null) {
    const { readServerPins } = await import('../db/postgres/inspect.ts')
    return readServerPins(databaseUrl)
  }
  const path = databasePath(dataDir)
  return existsSync(path) ? readPins(path) : null
}

/** Write imported keys. Other keys are refused without `force`, and kept under another name with it. */
function replaceKeys(config: Config, texts: KeyTexts, force: boolean): void {
  const { dataDir } = config
  const others = keyNames.filter((name) => {
    const path = keyPath(dataDir, name)
    const text = texts[name]
    return text !== undefined && existsSync(path) && readFileSync(path, 'utf8').trim() !== text
  })
  if (others.length > 0 && !force) {
    const which = others.map((name) => keyPath(dataDir, name)).join(', ')
    throw new OperatorError(
      `other keys are here already (${which}): --force replaces them, and keeps them under another name`,
    )
  }
  const now = systemClock()
  for (const name of others) {
    // The old key is kept, because it may be the only copy, and a backup may need it.
    const path = keyPath(dataDir, name)
    renameSync(path, `${path}.before-import-${now}`)
    console.log(`The ${keyLabels[name]} before is kept as ${path}.before-import-${now}`)
  }
  for (const name of keyNames) {
    const text = texts[name]
    // A file of a version without cards has no key for them.
    if (text === undefined) continue
    writeKey(dataDir, name, text)
    if (config[name] !== null) {
      console.log(`Note: the setting ${settings[name].variable} overrides the imported key.`)
    }
  }
}

function pubkeyOf(text: string): string | null {
  const secret = parseSecret(text)
  return secret && openSchnorr().keypair(secret).pubkey.toHex()
}

/** Read a file of keys. Throws OperatorError. */
function readKeyFile(path: string): string {
  const there = statSync(path, { throwIfNoEntry: false })
  if (!there?.isFile()) throw new OperatorError(`there is no file ${path}`)
  if (there.size > limits.keyFileBytesMax) {
    throw new OperatorError(`${path} is not a file of "cuponera keys export"`)
  }
  return readFileSync(path, 'utf8')
}
