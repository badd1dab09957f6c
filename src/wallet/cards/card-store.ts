import { bytesOf, hexOf } from '../../base/bytes.ts'
import type { Sql } from '../../db/sql.ts'

/** A card. Each initialisation of its tag makes a new one. */
export type Card = {
  id: number
  uuid: string
  /** The UID of the tag: 14 lower-case hex digits. */
  cid: string
  keyVersion: number
  counter: number
  counterKnown: boolean
  design: { uuid: string; name: string }
  name: string
  description: string
  /** Two switches: the holder's, and the operator's. */
  enabled: boolean
  blocked: boolean
  /** Public key in hex. */
  holder: string | null
  /** The holder's delegation, sealed. */
  delegation: Uint8Array | null
  createdAt: number
  activatedAt: number | null
  deletedAt: number | null
}

type CardRow = {
  id: number
  uuid: string
  cid: Uint8Array
  key_version: number
  counter: number
  counter_known: number
  design_uuid: string
  design_name: string
  name: string
  description: string
  enabled: number
  blocked: number
  holder: Uint8Array | null
  delegation: Uint8Array | null
  created_at: number
  activated_at: number | null
  deleted_at: number | null
}

type NewCard = Pick<
  Card,
  'uuid' | 'cid' | 'keyVersion' | 'counter' | 'design' | 'name' | 'createdAt'
>
type Activation = {
  holder: string
  delegation: Uint8Array
  name: string
  /** Unix seconds. */
  at: number
}
type Code = { cardId: number; chosen: boolean; used: boolean }
/** The holder's settings of a card. */
type CardWords = { name: string; description: string; enabled: boolean }

export type CardStore = ReturnType<typeof createCardStore>

const columns = `id, uuid, cid, key_version, counter, counter_known, design_uuid, design_name,
  name, description, enabled, blocked, holder, delegation, created_at, activated_at, deleted_at`

/** Cards and the codes that activate them; on one connection. */
export function createCardStore(sql: Sql) {
  const byId = sql.query<CardRow, [number]>(`SELECT ${columns} FROM cards WHERE id = ?`)
  const byUuid = sql.query<CardRow, [string]>(`SELECT ${columns} FROM cards WHERE uuid = ?`)
  const newest = sql.query<CardRow, [Uint8Array]>(
    `SELECT ${columns} FROM cards WHERE cid = ? ORDER BY key_version DESC LIMIT 1`,
  )
  const ofHolder = sql.query<CardRow, [Uint8Array, number]>(
    `SELECT ${columns} FROM cards WHERE holder = ? AND deleted_at IS NULL ORDER BY id LIMIT ?`,
  )
  const after = sql.query<CardRow, [number, number]>(
    `SELECT ${columns} FROM cards WHERE id > ? ORDER BY id LIMIT ?`,
  )
  const insert = sql.query<
    { id: number },
    [string, Uint8Array, number, number, string, string, string, number]
  >(
    `INSERT INTO cards (uuid, cid, key_version, counter, design_uuid, design_name, name, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
  )
  const tapped = sql.query<null, [number, number]>(
    `UPDATE cards SET counter = ?2
     WHERE id = ?1 AND counter < ?2 AND counter_known = 1 AND deleted_at IS NULL`,
  )
  const confirm = sql.query<null, [number, number]>(
    `UPDATE cards SET counter = ?2, counter_known = 1
     WHERE id = ?1 AND counter < ?2 AND deleted_at IS NULL`,
  )
  const redesign = sql.query<null, [string, string, number]>(
    'UPDATE cards SET design_uuid = ?, design_name = ? WHERE id = ? AND deleted_at IS NULL',
  )
  const remove = sql.query<null, [number, number]>(
    'UPDATE cards SET deleted_at = ? WHERE id = ? AND deleted_at IS NULL',
  )
  const activate = sql.query<null, [Uint8Array, Uint8Array, string, number, number]>(
    `UPDATE cards SET holder = ?, delegation = ?, name = ?, description = '', enabled = 1,
       activated_at = ? WHERE id = ? AND deleted_at IS NULL`,
  )
  const renew = sql.query<null, [Uint8Array, number, Uint8Array]>(
    'UPDATE cards SET delegation = ? WHERE id = ? AND holder = ? AND deleted_at IS NULL',
  )
  const describe = sql.query<null, [string, string, number, number]>(
    'UPDATE cards SET name = ?, description = ?, enabled = ? WHERE id = ? AND deleted_at IS NULL',
  )
  const block = sql.query<null, [number, number]>(
    'UPDATE cards SET blocked = ? WHERE id = ? AND deleted_at IS NULL',
  )
  const findCode = sql.query<
    { card_id: number; chosen: number; used_at: number | null },
    [Uint8Array]
  >('SELECT card_id, chosen, used_at FROM card_codes WHERE mac = ?')
  const openCode = sql.query<{ chosen: number }, [number]>(
    'SELECT chosen FROM card_codes WHERE card_id = ? AND used_at IS NULL',
  )
  const dropOpen = sql.query<null, [number]>(
    'DELETE FROM card_codes WHERE card_id = ? AND used_at IS NULL',
  )
  const insertCode = sql.query<null, [Uint8Array, number, number, number]>(
    'INSERT INTO card_codes (mac, card_id, chosen, created_at) VALUES (?, ?, ?, ?)',
  )
  const spendCode = sql.query<null, [number, Uint8Array]>(
    'UPDATE card_codes SET used_at = ? WHERE mac = ? AND used_at IS NULL',
  )

  return {
    async findById(id: number): Promise<Card | null> {
      return orNull(await byId.get(id))
    },

    async find(uuid: string): Promise<Card | null> {
      return orNull(await byUuid.get(uuid))
    },

    /** The newest card of a tag, also when it is deleted. */
    async findByCid(cid: string): Promise<Card | null> {
      return orNull(await newest.get(bytesOf(cid)))
    },

    /** Up to `most` of a holder's cards, oldest first. */
    async listOf(holder: string, most: number): Promise<Card[]> {
      return (await ofHolder.all(bytesOf(holder), most)).map(toCard)
    },

    /** A page of all cards by id, deleted ones too. */
    async list(afterId: number, most: number): Promise<Card[]> {
      return (await after.all(afterId, most)).map(toCard)
    },

    /** The id of the new row. */
    async insert(card: NewCard): Promise<number> {
      const { uuid, cid, keyVersion, counter, design, name, createdAt } = card
      const row = await insert.get(
        uuid,
        bytesOf(cid),
        keyVersion,
        counter,
        design.uuid,
        design.name,
        name,
        createdAt,
      )
      if (!row) throw new Error('the card was not inserted')
      return row.id
    },

    /** Count a genuine tap; false when this counter or a higher one has passed, or the counter is unknown. */
    async tapped(id: number, counter: number): Promise<boolean> {
      return (await tapped.changes(id, counter)) === 1
    },

    /** Restore a counter that was read from the tag; false when it is not higher than the one here. */
    async confirmCounter(id: number, counter: number): Promise<boolean> {
      return (await confirm.changes(id, counter)) === 1
    },

    async redesign(id: number, design: Card['design']): Promise<void> {
      redesign.run(design.uuid, design.name, id)
    },

    /** False when it was deleted before. */
    async remove(id: number, at: number): Promise<boolean> {
      return (await remove.changes(at, id)) === 1
    },

    /** Give the card to a holder; name, description and switch start anew. */
    async activate(id: number, { holder, delegation, name, at }: Activation): Promise<boolean> {
      return (await activate.changes(bytesOf(holder), delegation, name, at, id)) === 1
    },

    /** Replace the holder's delegation by a newer one. */
    async renew(id: number, holder: string, delegation: Uint8Array): Promise<boolean> {
      return (await renew.changes(delegation, id, bytesOf(holder))) === 1
    },

    async describe(id: number, { name, description, enabled }: CardWords): Promise<void> {
      describe.run(name, description, enabled ? 1 : 0, id)
    },

    async block(id: number, blocked: boolean): Promise<void> {
      block.run(blocked ? 1 : 0, id)
    },

    async findCode(mac: Uint8Array): Promise<Code | null> {
      const row = await findCode.get(mac)
      return row && { cardId: row.card_id, chosen: row.chosen === 1, used: row.used_at !== null }
    },

    /** The unused code of a card: whether it was chosen; null when there is none. */
    async openCode(cardId: number): Promise<{ chosen: boolean } | null> {
      const row = await openCode.get(cardId)
      return row && { chosen: row.chosen === 1 }
    },

    /** Link a code to a card; an unused one before it is void. */
    async linkCode(
      mac: Uint8Array,
      { cardId, chosen, at }: { cardId: number; chosen: boolean; at: number },
    ): Promise<void> {
      dropOpen.run(cardId)
      insertCode.run(mac, cardId, chosen ? 1 : 0, at)
    },

    /** Delete the unused code of a card. */
    async unlinkCode(cardId: number): Promise<void> {
      dropOpen.run(cardId)
    },

    /** False when it was used before. */
    async spendCode(mac: Uint8Array, at: number): Promise<boolean> {
      return (await spendCode.changes(at, mac)) === 1
    },
  }
}

function orNull(row: CardRow | null): Card | null {
  return row && toCard(row)
}

function toCard(row: CardRow): Card {
  return {
    id: row.id,
    uuid: row.uuid,
    cid: hexOf(row.cid),
    keyVersion: row.key_version,
    counter: row.counter,
    counterKnown: row.counter_known === 1,
    design: { uuid: row.design_uuid, name: row.design_name },
    name: row.name,
    description: row.description,
    enabled: row.enabled === 1,
    blocked: row.blocked === 1,
    holder: row.holder && hexOf(row.holder),
    delegation: row.delegation,
    createdAt: row.created_at,
    activatedAt: row.activated_at,
    deletedAt: row.deleted_at,
  }
}
