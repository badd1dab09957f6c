import { randomBytes } from 'node:crypto'
import type { AnyElysia } from 'elysia'
import { systemClock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import { Refusal } from '../base/refusal.ts'
import type { AfterCommit, Database, Locking, News } from '../db/database.ts'
import type { FactStore } from '../db/fact-store.ts'
import type { Jobs } from '../db/jobs.ts'
import type { Topic } from '../db/news.ts'
import type { Authenticator } from '../http/auth.ts'
import { codeDue, requireMerchant, settleCode } from '../merchants/admit.ts'
import { codeOf, saltBytes } from '../merchants/code.ts'
import type { Waiting } from '../merchants/merchant-store.ts'
import { type MerchantCommand, operateMerchants } from '../merchants/operator.ts'
import { charge, chargeTake } from '../merchants/quota.ts'
import type { Added } from '../merchants/quota-store.ts'
import { merchantRoutes } from '../merchants/roster-routes.ts'
import type { Admission, MerchantStores, Merchants } from '../merchants/service.ts'
import { setupRoutes } from '../merchants/setup-routes.ts'
import { createSetupTries } from '../merchants/setup-tries.ts'
import { listWaiting } from '../merchants/waiting.ts'
import { npubOf } from '../nostr/keys.ts'
import type { Caller } from '../session/caller.ts'
import type { Config } from './config.ts'
import type { Stores } from './stores.ts'

type ManagementParts = {
  database: Database<MerchantStores & { facts: FactStore }> & News
  jobs: Jobs
  storeKey: Uint8Array
  /** A monotonic clock, in milliseconds. */
  steady: () => number
  log: Log
}

/** The state of management, for the operator. */
export type ManagementState = {
  admission: Admission
  /** The number of keys in `MERCHANTS`, or of merchants that were let in. */
  merchants: number
  /** The setup code, or null without one. */
  code: string | null
  /** Owners of coupons that were not let in, those with the most first. */
  waiting: Waiting[]
}

export type Management = {
  merchants: Merchants
  /** Refuses `merchant-not-allowed`. */
  require(tx: Stores, caller: Caller): Promise<void>
  /** Refuses `vouchers-day-full`, `bytes-day-full`. */
  charge(tx: Stores & Locking, owner: string, added: Partial<Added>): Promise<void>
  /** As `charge`, for what visitors take from posters. Refuses `poster-today`. */
  chargeTake(tx: Stores & Locking, owner: string, added: Partial<Added>): Promise<void>
  routes(auth: Authenticator<Caller>): AnyElysia[]
  /** True while only this machine reaches the service. */
  private(): boolean
  /** Call `listener` when the service turns out to be reachable from other machines. */
  onExposed(listener: () => void): void
  /** A request came through a proxy, so others reach the service. Management is closed from this call on, for ever. */
  expose(): Promise<void>
  state(): Promise<ManagementState>
  stop(): Promise<void>
  /** The operator's commands, for the control socket. */
  commands: Record<string, (asked: Record<string, unknown>) => Promise<unknown>>
}

/** A request came through a proxy: others reach the service. */
const serviceExposed: Topic<null> = { name: 'service.exposed' }

/** Decide which keys may manage, and create a setup code where one is needed. */
export async function openManagement(config: Config, parts: ManagementParts): Promise<Management> {
  const { database, jobs, storeKey, steady, log } = parts
  const exposing: (() => void)[] = []
  let alone = isLoopback(config)
  const merchants: Merchants = {
    database,
    now: systemClock,
    storeKey,
    newSalt: () => randomBytes(saltBytes),
    admission: () => admissionOf(config, alone),
    metered: () => config.merchants === 'open' && !alone,
    listed: new Set(listedMerchants(config)),
    trySetup: config.rateLimit ? createSetupTries(() => steady() / 1000) : () => undefined,
    happened(event) {
      if (event.type === 'code-replaced') return log.warn('setup.replaced', { hint })
      const { type, pubkey, by } = event
      log.info(`merchant.${type}`, { npub: npubOf(pubkey), by: by.length === 64 ? npubOf(by) : by })
    },
  }
  const close = () => {
    if (!alone) return
    alone = false
    for (const listener of exposing) listener()
    if (merchants.admission() === 'let-in') log.warn('management.closed', { hint })
  }
  const look = jobs.start({
    async run() {
      if ((await database.snapshot((tx) => tx.facts.find('exposed'))) !== null) close()
      return undefined
    },
    failed: (cause) => log.error('management.unread', { cause }),
  })
  database.listen(serviceExposed, { told: close, missed: look.wake })
  // Behind the listener, so that nothing is missed between them.
  if ((await database.snapshot((tx) => tx.facts.find('exposed'))) !== null) alone = false
  // Without a change there is no transaction, so the start waits neither for the disk nor for the clock.
  if (await database.snapshot((tx) => codeDue(merchants, tx))) await settle(parts, merchants)
  return {
    merchants,
    require: (tx, caller) => requireMerchant(merchants, tx, caller),
    charge: (tx, owner, added) => charge(merchants, tx, owner, added),
    chargeTake: (tx, owner, added) => chargeTake(merchants, tx, owner, added),
    routes: (auth) => [setupRoutes(merchants, auth), merchantRoutes(merchants, auth)],
    private: () => alone,
    onExposed: (listener) => void exposing.push(listener),
    async expose() {
      if (!alone) return
      close()
      await settle(parts, merchants, async (tx) => {
        await tx.facts.pin('exposed', '1')
        tx.tell(serviceExposed, null)
      })
    },
    state: () => stateOf(merchants),
    stop: look.stop,
    commands: {
      'POST /merchants': (asked) => operateMerchants(merchants, asked as MerchantCommand),
    },
  }
}

/** Store or delete the setup code, with the write of `also`. */
async function settle(
  { database, log }: Pick<ManagementParts, 'database' | 'log'>,
  merchants: Merchants,
  also: (tx: { facts: FactStore } & AfterCommit) => Promise<void> = async () => undefined,
): Promise<void> {
  try {
    await database.transact({ roots: ['instance', 'roster'] }, async (tx) => {
      await also(tx)
      await settleCode(merchants, tx)
    })
  } catch (refused) {
    // The clock is behind, or the queue is full. "cuponera setup" creates the code later.
    if (!(refused instanceof Refusal)) throw refused
    log.warn('setup.unsaved', { why: refused.code, hint })
  }
}

const hint = 'run "cuponera setup" to see the code that lets the first merchant in'

/** True when the settings name only this machine. */
export function isLoopback({ host, publicUrls }: Config): boolean {
  const loopback = /^(localhost|127\.\d+\.\d+\.\d+|::1|\[::1\])$/.test(host)
  return loopback && publicUrls.length === 0
}

/** The keys that `MERCHANTS` names, in hex. */
export function listedMerchants({ merchants }: Config): readonly string[] {
  return merchants === null || merchants === 'open' ? [] : [...merchants]
}

/** The rule of admission of a service that does not run. `exposed` is the fact of that name. */
export function readAdmission(config: Config, exposed: string | null): Admission {
  return admissionOf(config, isLoopback(config) && exposed === null)
}

function admissionOf({ merchants }: Config, alone: boolean): Admission {
  if (merchants === 'open') return 'open'
  if (merchants !== null) return 'listed'
  return alone ? 'private' : 'let-in'
}

async function stateOf(merchants: Merchants): Promise<ManagementState> {
  const { database, admission, listed, storeKey } = merchants
  return database.snapshot(async (tx) => {
    const code = admission() === 'let-in' ? await tx.merchants.code() : null
    return {
      admission: admission(),
      merchants: admission() === 'listed' ? listed.size : await tx.merchants.count(),
      code: code && codeOf(storeKey, code.salt),
      waiting: admission() === 'let-in' ? await listWaiting(tx) : [],
    }
  })
}
