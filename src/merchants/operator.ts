import { limits } from '../base/limits.ts'
import { OperatorError } from '../base/operator-error.ts'
import { Refusal } from '../base/refusal.ts'
import { parseLabel } from '../coupons/text.ts'
import type { AfterCommit } from '../db/database.ts'
import { npubOf, parsePubkey } from '../nostr/keys.ts'
import { settleCode } from './admit.ts'
import { codeOf } from './code.ts'
import type { Waiting } from './merchant-store.ts'
import { admit, merchantView } from './roster.ts'
import { type Admission, type MerchantStores, type Merchants, merchantRemoved } from './service.ts'
import { listWaiting } from './waiting.ts'

/** A command of the operator. */
export type MerchantCommand =
  | { do: 'list' }
  | { do: 'add'; pubkey: string; label: string | null }
  | { do: 'remove'; pubkey: string }
  /** Admit these owners of coupons, or all that wait. */
  | { do: 'confirm'; pubkeys: string[] | 'all' }
  /** Admit a key for a run of the demo, and remove it again. */
  | { do: 'admit-guest'; pubkey: string }
  | { do: 'dismiss-guest'; pubkey: string }
  /** Show the setup code, or replace it. */
  | { do: 'code'; another: boolean }

export type ListedMerchants = {
  admission: Admission
  /** Hex. */
  listed: string[]
  merchants: ReturnType<typeof merchantView>[]
  waiting: Waiting[]
}

/** The result of each command. */
export type MerchantOutcome = {
  list: ListedMerchants
  add: { npub: string; created: boolean; admission: Admission }
  /** `remaining` counts the other merchants. Null if the settings decide who is one. */
  remove: { npub: string; remaining: number | null }
  confirm: { npubs: string[]; admission: Admission }
  'admit-guest': { admitted: boolean }
  'dismiss-guest': { dismissed: boolean }
  code: { code: string }
}

type Known = Pick<MerchantStores, 'merchants'>

/** Run a command of the operator. Throws OperatorError. */
export async function operateMerchants(
  merchants: Merchants,
  command: MerchantCommand,
): Promise<MerchantOutcome[MerchantCommand['do']]> {
  const { database } = merchants
  switch (command.do) {
    case 'list':
      return database.snapshot((tx) => list(merchants, tx))
    case 'add':
      return add(merchants, command)
    case 'remove':
      return remove(merchants, pubkeyIn(command.pubkey))
    case 'confirm': {
      const { pubkeys } = command
      const named = pubkeys === 'all' ? pubkeys : pubkeys.map(pubkeyIn)
      return database.transact({ roots: ['roster'] }, (tx) => confirm(merchants, tx, named))
    }
    case 'admit-guest':
      return database.transact({ roots: ['roster'] }, (tx) =>
        admitGuest(merchants, tx, pubkeyIn(command.pubkey)),
      )
    case 'dismiss-guest':
      return database.transact({ roots: ['roster'] }, (tx) =>
        dismissGuest(tx, pubkeyIn(command.pubkey)),
      )
    case 'code':
      return database.transact({ roots: ['roster'] }, (tx) =>
        showCode(merchants, tx, command.another),
      )
  }
}

async function list({ admission, listed }: Merchants, tx: Known): Promise<ListedMerchants> {
  return {
    admission: admission(),
    listed: [...listed],
    merchants: (await tx.merchants.list()).map(merchantView),
    waiting: await listWaiting(tx),
  }
}

async function add(merchants: Merchants, command: MerchantCommand & { do: 'add' }) {
  const pubkey = pubkeyIn(command.pubkey)
  const label = labelIn(command.label)
  const { created } = await merchants.database.transact({ roots: ['roster'] }, (tx) =>
    admitOwner(merchants, tx, pubkey, label),
  )
  return { npub: npubOf(pubkey), created, admission: merchants.admission() }
}

async function remove(merchants: Merchants, pubkey: string) {
  return merchants.database.transact({ roots: ['roster'] }, async (tx) => {
    if (!(await tx.merchants.remove(pubkey))) {
      throw new OperatorError(`${npubOf(pubkey)} is not among the merchants that were let in`)
    }
    await settleCode(merchants, tx)
    tx.afterCommit(() => merchants.happened({ type: 'removed', pubkey, by: 'operator' }))
    tx.tell(merchantRemoved, pubkey)
    const remaining = merchants.admission() === 'let-in' ? await tx.merchants.count() : null
    return { npub: npubOf(pubkey), remaining }
  })
}

async function confirm(merchants: Merchants, tx: Known & AfterCommit, named: string[] | 'all') {
  const waiting = new Set((await listWaiting(tx)).map(({ pubkey }) => pubkey))
  const pubkeys = named === 'all' ? [...waiting] : named
  for (const pubkey of pubkeys) {
    if (!waiting.has(pubkey)) {
      throw new OperatorError(
        `${npubOf(pubkey)} has no coupons that wait: let it in with "cuponera merchants add"`,
      )
    }
    await admitOwner(merchants, tx, pubkey, undefined)
  }
  return { npubs: pubkeys.map(npubOf), admission: merchants.admission() }
}

/** A merchant that the operator names is an owner: it adds and removes others. */
async function admitOwner(
  merchants: Merchants,
  tx: Known & AfterCommit,
  pubkey: string,
  label: string | null | undefined,
) {
  try {
    return await admit(merchants, tx, { pubkey, label, owner: true, by: 'operator' })
  } catch (refused) {
    if (!(refused instanceof Refusal)) throw refused
    throw new OperatorError(
      `there would be more than ${limits.merchantsMax} merchants: MERCHANTS=open takes any key`,
    )
  }
}

async function admitGuest({ admission, now }: Merchants, tx: Known, pubkey: string) {
  const kind = admission()
  if (kind === 'private' || kind === 'open') return { admitted: false }
  const known = await tx.merchants.find(pubkey)
  if (known?.expiresAt === null) return { admitted: false }
  const guest = { pubkey, label: null, owner: false, createdAt: now() }
  await tx.merchants.put({ ...guest, expiresAt: now() + limits.guestSeconds })
  return { admitted: true }
}

async function dismissGuest(tx: Known, pubkey: string) {
  const known = await tx.merchants.find(pubkey)
  const guest = known !== null && known.expiresAt !== null
  return { dismissed: guest && (await tx.merchants.remove(pubkey)) }
}

async function showCode(merchants: Merchants, tx: Known, another: boolean) {
  const { admission, storeKey, newSalt } = merchants
  const kind = admission()
  if (kind !== 'let-in') throw new OperatorError(`no code is needed: ${noCode[kind]}`)
  const count = await tx.merchants.count()
  if (count > 0) {
    throw new OperatorError(
      `no code is needed: ${count} merchant(s) were let in; add others in the panel or with "cuponera merchants add"`,
    )
  }
  if (another) await tx.merchants.setCode(newSalt())
  else await settleCode(merchants, tx)
  const code = await tx.merchants.code()
  if (!code) throw new Error('there is no setup code')
  return { code: codeOf(storeKey, code.salt) }
}

const noCode: Record<Exclude<Admission, 'let-in'>, string> = {
  private: 'by its settings only this machine reaches the service, and any key may manage coupons',
  listed: 'MERCHANTS names the keys that may manage coupons',
  open: 'any key may manage coupons (MERCHANTS=open)',
}

function pubkeyIn(text: unknown): string {
  const pubkey = typeof text === 'string' ? parsePubkey(text) : null
  // The text is not repeated, because somebody may have pasted an nsec.
  if (pubkey === null) throw new OperatorError('that is no public key: npub or hex')
  return pubkey
}

function labelIn(text: string | null): string | null | undefined {
  try {
    return parseLabel(text ?? undefined)
  } catch (refused) {
    if (!(refused instanceof Refusal)) throw refused
    throw new OperatorError(
      `a label has at most ${limits.labelCharsMax} characters, none of them invisible`,
    )
  }
}
