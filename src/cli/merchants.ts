import type { Config } from '../app/config.ts'
import type { Status } from '../app/control.ts'
import { loadKeyring } from '../app/keyring.ts'
import { openManagement } from '../app/management.ts'
import { createLog } from '../base/log.ts'
import { OperatorError } from '../base/operator-error.ts'
import { readPins } from '../db/inspect.ts'
import { createJobs } from '../db/jobs.ts'
import {
  type ListedMerchants,
  type MerchantCommand,
  type MerchantOutcome,
  operateMerchants,
} from '../merchants/operator.ts'
import { npubOf } from '../nostr/keys.ts'
import { withDatabase } from './control.ts'
import { onDatabase } from './on-database.ts'
import { isoTime, table } from './relays.ts'

/** List the keys that may manage coupons, and owners of coupons that may not. */
export async function listMerchants(config: Config): Promise<number> {
  const found = await operateOn(config, { do: 'list' })
  const { admission, merchants, waiting } = found
  const closed = admission === 'let-in' && merchants.length === 0
  const lines = [closed ? noMerchants : rules[admission], ...listedLines(found)]
  if (admission === 'let-in' && waiting.length > 0) {
    const rows = waiting.map(({ pubkey, coupons }) => [npubOf(pubkey), String(coupons)])
    lines.push('', ...table([['has coupons and waits to be let in', 'coupons'], ...rows]))
  }
  console.log(lines.join('\n'))
  return 0
}

const noMerchants = 'nobody may manage coupons yet: see "cuponera setup"'

const rules: Record<ListedMerchants['admission'], string> = {
  private: 'any key may manage coupons: by its settings only this machine reaches the service',
  listed: 'the keys of MERCHANTS may manage coupons',
  open: 'any key may manage coupons (MERCHANTS=open)',
  'let-in': 'merchants that were let in may manage coupons',
}

function listedLines({ admission, listed, merchants }: ListedMerchants): string[] {
  const rows = merchants.map(({ npub, createdAt, owner, label }) => {
    return [npub, isoTime(createdAt), owner ? 'yes' : 'no', label ?? '']
  })
  const stored = table([['key', 'since', 'adds others', 'label'], ...rows])
  const unused =
    admission === 'let-in' ? [] : ['', 'let in before, and not used by these settings:']
  return [...listed.map(npubOf), ...(rows.length > 0 ? [...unused, ...stored] : [])]
}

/** Let a key manage coupons. It may add and remove other keys. */
export async function addMerchant(
  config: Config,
  pubkey: string,
  label: string | undefined,
): Promise<number> {
  const asked = { do: 'add', pubkey, label: label ?? null } as const
  const { npub, created, admission } = await operateOn(config, asked)
  console.log(`${npub} ${created ? 'was let in' : 'had been let in before'}`)
  sayIfUnused(admission)
  return 0
}

/** Remove a merchant. Its vouchers stay valid. */
export async function removeMerchant(config: Config, pubkey: string): Promise<number> {
  const { npub, remaining } = await operateOn(config, { do: 'remove', pubkey })
  console.log(`${npub} is no merchant any more; its vouchers stay valid`)
  if (remaining === 0) console.log(noMerchants)
  return 0
}

/** Admit owners of coupons from the time before management was closed: these keys, or all. */
export async function confirmMerchants(
  config: Config,
  keys: string[],
  all: boolean,
): Promise<number> {
  if (all === keys.length > 0) {
    throw new OperatorError('merchants confirm needs either NPUB… or --all', 'usage')
  }
  const pubkeys = all ? ('all' as const) : keys
  const { npubs, admission } = await operateOn(config, { do: 'confirm', pubkeys })
  for (const npub of npubs) console.log(`${npub} was let in`)
  if (npubs.length === 0) console.log('nobody waits for confirmation')
  else sayIfUnused(admission)
  return 0
}

/** Tell the operator if the settings do not use the list of merchants at present. */
function sayIfUnused(admission: ListedMerchants['admission']): void {
  if (admission !== 'let-in') console.log(`This has no effect while ${rules[admission]}.`)
}

type Answered<K extends MerchantCommand['do']> = MerchantOutcome[K] & { address: string | null }

/** Run a command about merchants in the running server, or on the database if none runs (`address` is null then). */
export function operateOn<K extends MerchantCommand['do']>(
  config: Config,
  command: MerchantCommand & { do: K },
): Promise<Answered<K>> {
  type Outcome = MerchantOutcome[K]
  return withDatabase<Answered<K>>(config, {
    async alone(path) {
      return { ...((await alone(config, path, command)) as Outcome), address: null }
    },
    async running(server) {
      const { address } = await server.ask<Status>('GET', 'status')
      return { ...(await server.ask<Outcome>('POST', 'merchants', command)), address }
    },
  })
}

async function alone(config: Config, path: string, command: MerchantCommand) {
  if (readPins(path).manager === null) {
    throw new OperatorError('the server has never run here: start it once')
  }
  // The setup code is derived from the store key. `false`: a command must not create keys.
  const { storeKey } = loadKeyring(config, false)
  // The command prints its own result, so the log has errors only.
  const log = createLog('error', config.logFormat)
  return onDatabase(path, async (database) => {
    const jobs = createJobs(database)
    const { merchants } = await openManagement(config, {
      ...{ database, jobs, storeKey, steady: () => performance.now(), log },
    })
    return operateMerchants(merchants, command)
  })
}
