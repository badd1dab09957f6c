import { bytesOf, hexOf } from '../../base/bytes.ts'
import type { CommonTerms } from '../../coupons/definition.ts'
import type { FrozenVoucher, Phase } from '../../coupons/voucher.ts'
import type { Sealed } from '../../crypto/seal-to-holder.ts'
import type { Sql } from '../../db/sql.ts'

/** A voucher in an inbox. */
export type Held = FrozenVoucher<CommonTerms> & {
  service: string
  /** Handle of the replacement's nonce. */
  handle: Uint8Array
  receivedAt: number
  comment: string | null
  /** Those of another service as it states them; null for none. */
  rules: unknown
  sealed: Sealed
  /** Its phase here, without expiry; null for a voucher of another service. */
  phase: Phase | null
}

type NewHeld = FrozenVoucher<CommonTerms> & {
  /** Row id of its transfer. */
  id: number
  holder: string
  comment: string | null
  rules: unknown
  sealed: Sealed
}

type HeldRow = {
  service: Uint8Array
  handle: Uint8Array
  received_at: number
  owner: Uint8Array
  coupon_id: string
  name: string
  description: string
  image: string | null
  benefit: string
  expires_at: number | null
  comment: string | null
  ephemeral: Uint8Array
  payload: string
  rules: string | null
  phase: Phase | null
}

/** The phase of the voucher `v`; the kill switch counts before its rows are marked. */
const phase = `CASE WHEN v.phase = 'minted' AND EXISTS (
    SELECT 1 FROM kills k WHERE k.definition_id = v.definition_id AND k.upto_voucher_id >= v.id)
  THEN 'voided' ELSE v.phase END`

/** An inbox row `i` with its transfer `t` and, when it is this service's (`?1`), its voucher `v`. */
const rows = `inbox i JOIN transfers t ON t.id = i.id
  LEFT JOIN vouchers v ON v.handle = t.replacement AND t.service = ?1`

/** The condition for an unspent voucher: not expired (`?3`), and not known to be spent. */
const unspent = `(i.expires_at IS NULL OR i.expires_at > ?3) AND coalesce(${phase}, 'minted') = 'minted'`

export type InboxStore = ReturnType<typeof createInboxStore>

/** Vouchers that holders have received; on one connection. */
export function createInboxStore(sql: Sql) {
  const insert = sql.query<
    null,
    [
      number,
      Uint8Array,
      Uint8Array,
      string,
      string,
      string,
      string | null,
      string,
      number | null,
      string | null,
      Uint8Array,
      string,
      string | null,
    ]
  >(
    `INSERT INTO inbox (id, holder, owner, coupon_id, name, description, image, benefit, expires_at,
       comment, ephemeral, payload, rules) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const list = sql.query<HeldRow, [Uint8Array, Uint8Array, number]>(
    `SELECT t.service, t.replacement AS handle, t.received_at, i.owner, i.coupon_id, i.name,
       i.description, i.image, i.benefit, i.expires_at, i.comment, i.ephemeral, i.payload, i.rules,
       ${phase} AS phase
     FROM ${rows} WHERE i.holder = ?2 ORDER BY i.id DESC LIMIT ?3`,
  )
  const count = sql.query<
    { total: number; unspent: number; of_owner: number },
    [Uint8Array, Uint8Array, number, Uint8Array]
  >(
    `SELECT count(*) AS total, count(CASE WHEN ${unspent} THEN 1 END) AS unspent,
       count(CASE WHEN i.owner = ?4 AND ${unspent} THEN 1 END) AS of_owner
     FROM ${rows} WHERE i.holder = ?2`,
  )
  const removeWorthless = sql.query<null, [Uint8Array, Uint8Array, number, number]>(
    `DELETE FROM inbox WHERE id IN (
       SELECT i.id FROM ${rows} WHERE i.holder = ?2 AND NOT (${unspent})
       ORDER BY i.id LIMIT ?4)`,
  )
  const remove = sql.query<null, [Uint8Array, Uint8Array]>(
    `DELETE FROM inbox WHERE holder = ?1
       AND id IN (SELECT id FROM transfers WHERE replacement = ?2)`,
  )

  const findManager = sql.query<{ value: string }, []>(
    "SELECT value FROM facts WHERE name = 'manager'",
  )
  /** The key of this service. It never changes in one database. */
  let known: Uint8Array | null = null
  const manager = async (): Promise<Uint8Array> => {
    const row = known ? null : await findManager.get()
    if (row) known = bytesOf(row.value)
    return known ?? new Uint8Array()
  }

  return {
    async insert(held: NewHeld): Promise<void> {
      const { id, holder, owner, couponId, terms, comment, rules, sealed } = held
      insert.run(
        id,
        bytesOf(holder),
        bytesOf(owner),
        couponId,
        terms.name,
        terms.description,
        terms.image,
        JSON.stringify(terms.benefit),
        terms.expiresAt,
        comment,
        bytesOf(sealed.pubkey),
        sealed.payload,
        rules === null ? null : JSON.stringify(rules),
      )
    },

    /** Up to `most` of a holder's, newest first. */
    async list(holder: string, most: number): Promise<Held[]> {
      return (await list.all(await manager(), bytesOf(holder), most)).map(toHeld)
    },

    /** The number of a holder's vouchers; of them those unspent, and those unspent of one merchant. */
    async count(holder: string, owner: string, now: number) {
      const row = await count.get(await manager(), bytesOf(holder), now, bytesOf(owner))
      const { total = 0, unspent: open = 0, of_owner: ofOwner = 0 } = row ?? {}
      return { total, unspent: open, ofOwner }
    },

    /** Delete up to `most` of a holder's oldest that are spent or expired. */
    async removeWorthless(holder: string, most: number, now: number): Promise<void> {
      removeWorthless.run(await manager(), bytesOf(holder), now, most)
    },

    /** Delete one, by the handle of its nonce; false when the holder has none such. */
    async remove(holder: string, handle: Uint8Array): Promise<boolean> {
      return (await remove.changes(bytesOf(holder), handle)) > 0
    },
  }
}

function toHeld(row: HeldRow): Held {
  return {
    service: hexOf(row.service),
    handle: row.handle,
    receivedAt: row.received_at,
    owner: hexOf(row.owner),
    couponId: row.coupon_id,
    terms: {
      name: row.name,
      description: row.description,
      image: row.image,
      benefit: JSON.parse(row.benefit) as CommonTerms['benefit'],
      expiresAt: row.expires_at,
    },
    comment: row.comment,
    rules: row.rules === null ? null : JSON.parse(row.rules),
    sealed: { pubkey: hexOf(row.ephemeral), payload: row.payload },
    phase: row.phase,
  }
}
