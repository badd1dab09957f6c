import { limits } from '../../../base/limits.ts'
import { Refusal } from '../../../base/refusal.ts'
import type { Locking } from '../../../db/database.ts'
import { npubOf } from '../../../nostr/keys.ts'
import type { Card } from '../card-store.ts'
import { openAt, openDelegation } from '../delegation.ts'
import { oweNotice } from '../holders/notices.ts'
import { chosenCode } from '../requests.ts'
import type { CardAdmin, CardStores } from '../service.ts'
import { keyVersions } from '../tag.ts'
import { initialiseTag, keysOf, parseCid, parseNewTag } from './initialise.ts'
import { linkCode } from './link.ts'
import { wipeTag } from './wipe.ts'

/** A command of the operator on cards, with a server (over the control socket) or without one. */
export type CardCommand =
  | { do: 'list'; after: number }
  | { do: 'find'; card: string }
  | { do: 'init'; tag: Record<string, unknown> }
  | { do: 'otc'; card: string; code: string }
  | { do: 'block'; card: string; blocked: boolean }
  | { do: 'keys'; cid: string; version: number | null }
  | { do: 'delete'; cid: string }

/** A card as the operator sees it. */
export type ListedCard = {
  id: number
  uuid: string
  cid: string
  version: number
  counter: number
  name: string
  /** npub, or null. */
  holder: string | null
  state: 'new' | 'active' | 'disabled' | 'delegation over' | 'unconfirmed' | 'deleted'
  createdAt: number
}

type Written = Awaited<ReturnType<typeof initialiseTag>>

/** The result of each command. */
export type CardOutcome = {
  list: ListedCard[]
  find: ListedCard
  init: Written
  otc: ListedCard
  block: ListedCard
  keys: ReturnType<typeof keysOf> & { version: number }
  delete: ReturnType<typeof keysOf>
}

/** Carry a command out. Refuses as the routes do: `card-unknown`, `otc-linked`, `card-content-invalid` … */
export async function operateCards(
  admin: CardAdmin,
  command: CardCommand,
): Promise<CardOutcome[CardCommand['do']]> {
  const { database } = admin
  switch (command.do) {
    case 'list': {
      const after = Number.isSafeInteger(command.after) ? command.after : 0
      const page = await database.snapshot((tx) => tx.cards.list(after, limits.pageMax))
      return page.map((card) => describe(admin, card))
    }
    case 'find':
      return describe(admin, await database.snapshot((tx) => find(tx, command.card)))
    case 'init': {
      const tag = parseNewTag(command.tag)
      const written = await database.transact({ roots: [{ card: tag.cid }] }, (tx) =>
        initialiseTag(admin, tx, tag),
      )
      admin.keysRead({ cid: tag.cid, reader: 'operator', why: 'init' })
      return written
    }
    case 'otc':
      return database.transact({ roots: [] }, async (tx) => {
        const card = await findLocked(tx, command.card)
        const code = chosenCode(command.code)
        await linkCode(admin, tx, card.id, code)
        return describe(admin, card)
      })
    case 'block':
      return database.transact({ roots: [] }, async (tx) => {
        const card = await findLocked(tx, command.card)
        await tx.cards.block(card.id, command.blocked)
        if (card.holder !== null) oweNotice(tx, card.holder)
        return describe(admin, { ...card, blocked: command.blocked })
      })
    case 'keys':
      return readKeys(admin, parseCid(command.cid), command.version)
    case 'delete': {
      const cid = parseCid(command.cid)
      const keys = await database.transact({ roots: [{ card: cid }] }, (tx) =>
        wipeTag(admin, tx, cid),
      )
      admin.keysRead({ cid, reader: 'operator', why: 'delete' })
      return keys
    }
  }
}

/** The keys of a tag; of one that this database does not know only when the version is named. */
async function readKeys(admin: CardAdmin, cid: string, version: number | null) {
  const card = await admin.database.snapshot((tx) => tx.cards.findByCid(cid))
  const keyVersion = version ?? card?.keyVersion
  if (keyVersion === undefined) throw new Refusal('card-unknown')
  const { first, last } = keyVersions
  if (!Number.isInteger(keyVersion) || keyVersion < first || keyVersion > last) {
    throw new Refusal('card-content-invalid', { field: 'version' })
  }
  admin.keysRead({ cid, reader: 'operator', why: 'keys' })
  return { ...keysOf(admin, { cid, keyVersion }), version: keyVersion }
}

/** A card that is in use, by its UUID or the UID of its tag. */
async function find(tx: CardStores, name: string): Promise<Card> {
  const text = String(name).toLowerCase()
  const card = /^[0-9a-f]{14}$/.test(text)
    ? await tx.cards.findByCid(text)
    : await tx.cards.find(text)
  if (!card || card.deletedAt !== null) throw new Refusal('card-unknown')
  return card
}

async function findLocked(tx: CardStores & Locking, name: string): Promise<Card> {
  const { cid } = await find(tx, name)
  await tx.lock({ card: cid })
  return find(tx, name)
}

function describe(admin: CardAdmin, card: Card): ListedCard {
  const { id, uuid, cid, keyVersion: version, counter, name, holder, createdAt } = card
  const npub = holder === null ? null : npubOf(holder)
  return {
    id,
    uuid,
    cid,
    version,
    counter,
    name,
    holder: npub,
    state: stateOf(admin, card),
    createdAt,
  }
}

function stateOf({ storeKey, now }: CardAdmin, card: Card): ListedCard['state'] {
  if (card.deletedAt !== null) return 'deleted'
  if (!card.counterKnown) return 'unconfirmed'
  if (!card.enabled || card.blocked) return 'disabled'
  const delegation = openDelegation(storeKey, card)
  if (!delegation) return 'new'
  return openAt(delegation.window, now()) ? 'active' : 'delegation over'
}
