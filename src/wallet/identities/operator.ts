import { limits } from '../../base/limits.ts'
import { Refusal } from '../../base/refusal.ts'
import { parseLud16 } from './lud16.ts'
import { isReserved, isUnusable, parseName } from './name.ts'
import { issueNonce } from './nonces.ts'
import { addAccount, parseHolder } from './register.ts'
import type { Identities } from './service.ts'

/** Dependencies of the operator's commands on identities, with a server or without one. */
type OperatorParts = Pick<
  Identities,
  'database' | 'now' | 'newNonce' | 'newId' | 'manager' | 'reserved' | 'usable'
> & {
  /** Hosts of this service: no wallet's callback may be there. */
  hosts: readonly string[]
}

/** A command of the operator. `force`: the name may be a reserved one. */
export type IdentityCommand =
  | { do: 'nonce' }
  | { do: 'add'; name: string; pubkey: string; lud16: unknown; force: boolean }
  | { do: 'list'; after: string }
  | { do: 'remove'; name: string }

/** An identity as its operator sees it. */
export type ListedIdentity = {
  name: string
  pubkey: string
  payments: boolean
  vouchers: boolean
  createdAt: number
}

/** The result of each command. */
export type CommandOutcome = {
  nonce: { nonce: string }
  add: { id: string; pubkey: string }
  list: ListedIdentity[]
  remove: { removed: true }
}

/**
 * Carry out a command of the operator. It needs no signature and no nonce, and refuses otherwise as
 * `registerIdentity` does; also `identity-nonces-full`, `identity-unknown`.
 */
export async function operate(
  parts: OperatorParts,
  command: IdentityCommand,
): Promise<CommandOutcome[IdentityCommand['do']]> {
  switch (command.do) {
    case 'nonce':
      return makeNonce(parts)
    case 'add':
      return add(parts, command)
    case 'list':
      return list(parts, command.after)
    case 'remove':
      return remove(parts, command.name)
  }
}

function makeNonce({ database, manager, newNonce, now }: OperatorParts) {
  return database.transact({ roots: [{ issuer: manager }] }, async (tx) => {
    const nonce = newNonce()
    await issueNonce(tx, { nonce, issuer: manager, now: now() })
    return { nonce }
  })
}

function add(parts: OperatorParts, command: IdentityCommand & { do: 'add' }) {
  const name = parseName(command.name)
  const pubkey = parseHolder(command.pubkey)
  const lud16 = parseLud16(command.lud16, parts)
  const kept = command.force ? isUnusable(name) : isReserved(name, parts.reserved)
  if (kept) throw new Refusal('identity-reserved')
  const account = { name, pubkey, lud16, nonceId: null, createdBy: parts.manager }
  return parts.database.transact({ roots: [{ holder: pubkey }] }, (tx) =>
    addAccount(parts, tx, account),
  )
}

async function list({ database }: OperatorParts, after: string): Promise<ListedIdentity[]> {
  const accounts = await database.snapshot((tx) => tx.accounts.page(after, limits.pageMax))
  return accounts.map(({ name, pubkey, lud16, allowVouchers, createdAt }) => ({
    name,
    pubkey,
    payments: lud16 !== null,
    vouchers: allowVouchers,
    createdAt,
  }))
}

function remove({ database }: OperatorParts, text: string) {
  const name = text.toLowerCase()
  return database.transact({ roots: [] }, async (tx) => {
    const named = await tx.accounts.findByName(name)
    if (named) await tx.lock({ holder: named.pubkey })
    const account = await tx.accounts.findByName(name)
    if (!account) throw new Refusal('identity-unknown')
    // The nonce that it burned stays, so that nobody can use it again.
    await tx.accounts.remove(account.id)
    return { removed: true as const }
  })
}
