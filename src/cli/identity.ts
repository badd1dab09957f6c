import { readFileSync } from 'node:fs'
import type { Config } from '../app/config.ts'
import { systemClock } from '../base/clock.ts'
import { parseJson } from '../base/json.ts'
import { limits } from '../base/limits.ts'
import { OperatorError } from '../base/operator-error.ts'
import { createNonce } from '../coupons/nonce.ts'
import { readPins } from '../db/inspect.ts'
import { npubOf } from '../nostr/keys.ts'
import { createUrlRule } from '../outbound/fetch-public.ts'
import {
  type CommandOutcome,
  type IdentityCommand,
  type ListedIdentity,
  operate,
} from '../wallet/identities/operator.ts'
import { withDatabase } from './control.ts'
import { onDatabase } from './on-database.ts'
import { isoTime, table } from './relays.ts'

/** Create a nonce that registers one identity. */
export async function nonce(config: Config): Promise<number> {
  const made = await carryOut(config, { do: 'nonce' })
  console.log(made.nonce)
  return 0
}

/** Give a name to a key. `file` holds the LUD-16 answer of its own wallet. */
export async function addIdentity(
  config: Config,
  {
    name,
    key,
    file,
    force,
  }: { name: string; key: string; file?: string | undefined; force: boolean },
): Promise<number> {
  const lud16 = file === undefined ? null : readJson(file)
  const added = await carryOut(config, { do: 'add', name, pubkey: key, lud16, force })
  console.log(`${name.toLowerCase()} is ${npubOf(added.pubkey)}`)
  return 0
}

/** List names and their keys. */
export async function listIdentities(config: Config): Promise<number> {
  const found: ListedIdentity[] = []
  for (;;) {
    const after = found.at(-1)?.name ?? ''
    const page = await carryOut(config, { do: 'list', after })
    found.push(...page)
    if (page.length < limits.pageMax) break
  }
  const rows = found.map(({ name, pubkey, payments, vouchers, createdAt }) => {
    const takes = [...(payments ? ['payments'] : []), ...(vouchers ? ['vouchers'] : [])]
    return [name, npubOf(pubkey), isoTime(createdAt), takes.join(', ') || 'nothing']
  })
  for (const line of table([['name', 'key', 'since', 'takes'], ...rows])) console.log(line)
  return 0
}

/** Take a name away from its key. */
export async function removeIdentity(config: Config, name: string): Promise<number> {
  await carryOut(config, { do: 'remove', name })
  console.log(`${name.toLowerCase()} is free`)
  return 0
}

/** Run a command about identities in the running server, or on the database if none runs. */
function carryOut<K extends IdentityCommand['do']>(
  config: Config,
  command: IdentityCommand & { do: K },
): Promise<CommandOutcome[K]> {
  return withDatabase(config, {
    alone: (path) => alone(config, path, command) as Promise<CommandOutcome[K]>,
    running: (server) => server.ask<CommandOutcome[K]>('POST', 'identity', command),
  })
}

async function alone(config: Config, path: string, command: IdentityCommand) {
  // Identities need the manager's public key. It is pinned at the first start, so no secret key is read here.
  const { manager } = readPins(path)
  if (manager === null) throw new OperatorError('the server has never run here: start it once')
  const parts = {
    now: systemClock,
    newNonce: createNonce,
    newId: () => Bun.randomUUIDv7(),
    manager,
    reserved: config.identityReserved,
    usable: createUrlRule(),
    hosts: config.publicUrls.map((url) => new URL(url).host),
  }
  return onDatabase(path, (database) => operate({ ...parts, database }, command))
}

function readJson(file: string): unknown {
  const value = parseJson(readText(file), limits.lud16BytesMax)
  if (value === undefined) throw new OperatorError(`${file} is not JSON`)
  return value
}

function readText(file: string): string {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    throw new OperatorError(`${file} cannot be read`)
  }
  if (text.length > limits.lud16BytesMax) throw new OperatorError(`${file} is too long`)
  return text
}
