import { randomBytes } from 'node:crypto'
import type { Config } from '../app/config.ts'
import { findKeys, fingerprintOf, parseKeyring } from '../app/keyring.ts'
import { systemClock } from '../base/clock.ts'
import { limits } from '../base/limits.ts'
import { createLog } from '../base/log.ts'
import { OperatorError } from '../base/operator-error.ts'
import { createKeyDerivation } from '../wallet/cards/tag.ts'
import {
  type CardCommand,
  type CardOutcome,
  type ListedCard,
  operateCards,
} from '../wallet/cards/tags/operator.ts'
import { withDatabase } from './control.ts'
import { onDatabase } from './on-database.ts'
import { table } from './relays.ts'

/** List the cards. */
export async function listCards(config: Config): Promise<number> {
  const found: ListedCard[] = []
  for (;;) {
    const after = found.at(-1)?.id ?? 0
    const page = await operate(config, { do: 'list', after })
    found.push(...page)
    if (page.length < limits.pageMax) break
  }
  const rows = found.map(({ cid, uuid, state, counter, name, holder }) => {
    return [cid, uuid, state, String(counter), holder ?? '-', name]
  })
  const heads = ['uid', 'card', 'state', 'counter', 'holder', 'name']
  for (const line of table([heads, ...rows])) console.log(line)
  return 0
}

/** Register a tag, or confirm its counter, and print the keys to write to it. */
export async function initCard(
  config: Config,
  cid: string,
  { counter, version }: { counter: number | undefined; version: number | undefined },
): Promise<number> {
  const written = await operate(config, { do: 'init', tag: { cid, ctr: counter, version } })
  const { otc, ctr, ...keys } = written
  printKeys(keys)
  console.log(`counter  ${ctr}\ncode     ${otc ?? '(used, or chosen by a writer)'}`)
  return 0
}

/** Add a one-time code to a card. The first wallet that sends the code becomes the holder. */
export async function addCode(
  config: Config,
  card: string,
  code: string | undefined,
): Promise<number> {
  if (code !== undefined && code.length < limits.otcCharsMin) {
    throw new OperatorError(`a code has at least ${limits.otcCharsMin} characters`)
  }
  const chosen = code ?? randomBytes(9).toString('hex')
  const { cid } = await operate(config, { do: 'otc', card, code: chosen })
  console.log(`${cid} is activated with ${chosen}`)
  return 0
}

/** Disable a card, or enable it again. The holder cannot change it. */
export async function blockCard(config: Config, card: string, blocked: boolean): Promise<number> {
  const { cid, state } = await operate(config, { do: 'block', card, blocked })
  console.log(`${cid} is ${blocked ? 'disabled' : state}`)
  return 0
}

/** Print the keys of a tag, which a writer needs to wipe or rewrite it. */
export async function showCardKeys(
  config: Config,
  cid: string,
  version: number | undefined,
): Promise<number> {
  printKeys(await operate(config, { do: 'keys', cid, version: version ?? null }))
  return 0
}

/** Delete a card, and print the keys to wipe its tag. */
export async function deleteCard(config: Config, cid: string): Promise<number> {
  printKeys(await operate(config, { do: 'delete', cid }))
  return 0
}

/** Run a command about cards in the running server, or on the database if none runs. */
export function operate<K extends CardCommand['do']>(
  config: Config,
  command: CardCommand & { do: K },
): Promise<CardOutcome[K]> {
  return withDatabase(config, {
    alone: (path) => alone(config, path, command) as Promise<CardOutcome[K]>,
    running: (server) => server.ask<CardOutcome[K]>('POST', 'cards', command),
  })
}

async function alone(config: Config, path: string, command: CardCommand) {
  const texts = Object.entries(findKeys(config)).map(([name, key]) => [name, key?.text] as const)
  const keys = parseKeyring(Object.fromEntries(texts))
  if (!keys?.cardMasterKey) {
    throw new OperatorError('some keys are missing: start the server once')
  }
  const { cardMasterKey, storeKey } = keys
  const keyFingerprint = fingerprintOf(cardMasterKey)
  const log = createLog(config.logLevel, config.logFormat)
  return onDatabase(path, async (database) => {
    // Keys of another master key would be printed, written to tags, and never work.
    const pinned = await database.snapshot((tx) => tx.facts.find('card-key'))
    if (pinned !== null && pinned !== keyFingerprint) {
      throw new OperatorError('the cards of this database have keys of another CARD_MASTER_KEY')
    }
    const admin = {
      database,
      now: systemClock,
      storeKey,
      keys: createKeyDerivation(cardMasterKey),
      keyFingerprint,
      newId: () => Bun.randomUUIDv7(),
      keysRead: (reading: object) => log.warn('card.keys-read', { ...reading }),
    }
    return operateCards(admin, command)
  })
}

function printKeys(keys: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(keys)) console.log(`${name.padEnd(8)} ${value}`)
}
