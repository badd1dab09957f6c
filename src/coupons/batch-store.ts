import type { Sql } from '../db/sql.ts'
import type { Page } from './page.ts'

/** Vouchers that were issued together under a name. */
export type Batch = {
  rowId: number
  id: string
  definitionRowId: number
  name: string
  /** Vouchers ever issued in it. */
  issued: number
  createdAt: number
}

/** The other four figures of a batch: issued = open + expired + claimed + voided. */
type BatchFigures = { open: number; expired: number; claimed: number; voided: number }

type BatchRow = {
  id: number
  uuid: string
  definition_id: number
  name: string
  issued: number
  created_at: number
}

export type BatchStore = ReturnType<typeof createBatchStore>

/** Store of batches, and of the labels of vouchers. A label belongs to a chain of refreshes, by its first voucher. */
export function createBatchStore(sql: Sql) {
  const columns = 'id, uuid, definition_id, name, issued, created_at FROM batches'
  const insert = sql.query<null, [string, number, string, number]>(
    'INSERT INTO batches (uuid, definition_id, name, created_at) VALUES (?, ?, ?, ?)',
  )
  const find = sql.query<BatchRow, [string]>(`SELECT ${columns} WHERE uuid = ?`)
  const list = sql.query<BatchRow, [number, number, number]>(
    `SELECT ${columns} WHERE definition_id = ? AND id < ? ORDER BY id DESC LIMIT ?`,
  )
  const count = sql.query<{ n: number }, [number]>(
    'SELECT count(*) AS n FROM batches WHERE definition_id = ?',
  )
  // The guarded write of an issue: parallel requests must not pass the limit together.
  const take = sql.query<null, [number, number, number]>(
    'UPDATE batches SET issued = issued + ?1 WHERE id = ?2 AND issued + ?1 <= ?3',
  )
  const insertLabel = sql.query<null, [Uint8Array, number | null, string | null]>(
    `INSERT INTO voucher_labels (id, batch_id, label)
     VALUES ((SELECT id FROM vouchers WHERE handle = ?), ?, ?)`,
  )
  // The end of each chain decides. The kill switch may have voided it before its row is marked.
  const ends = `
    FROM voucher_labels x
    JOIN vouchers v ON coalesce(v.root_id, v.id) = +x.id AND v.phase <> 'refreshed'
    WHERE x.batch_id = ?`
  const killed = `EXISTS (SELECT 1 FROM kills k
    WHERE k.definition_id = v.definition_id AND k.upto_voucher_id >= v.id)`
  const figures = sql.query<BatchFigures, [number, number]>(
    `SELECT count(*) FILTER (WHERE state = 'open') AS open,
       count(*) FILTER (WHERE state = 'expired') AS expired,
       count(*) FILTER (WHERE state = 'claimed') AS claimed,
       count(*) FILTER (WHERE state = 'voided') AS voided
     FROM (SELECT CASE
         WHEN v.phase <> 'minted' THEN v.phase
         WHEN ${killed} THEN 'voided'
         WHEN (SELECT r.expires_at FROM revisions r WHERE r.id = v.revision_id) <= ?1 THEN 'expired'
         ELSE 'open' END AS state ${ends.replace('?', '?2')}) AS states`,
  )
  const openEnds = sql.query<{ handle: Uint8Array }, [number, number]>(
    `SELECT v.handle ${ends} AND v.phase = 'minted' AND NOT ${killed} LIMIT ?`,
  )

  return {
    insert(id: string, definitionRowId: number, name: string, now: number): void {
      insert.run(id, definitionRowId, name, now)
    },

    async find(id: string): Promise<Batch | null> {
      const row = await find.get(id)
      return row && toBatch(row)
    },

    /** One row more than the page holds, newest first. */
    async list(definitionRowId: number, page: Page): Promise<Batch[]> {
      const before = page.before ?? Number.MAX_SAFE_INTEGER
      return (await list.all(definitionRowId, before, page.limit + 1)).map(toBatch)
    },

    /** Number of batches of a definition. */
    async count(definitionRowId: number): Promise<number> {
      return (await count.get(definitionRowId))?.n ?? 0
    },

    /** Count vouchers that are issued in a batch. False if it has no room for them. */
    async take(rowId: number, vouchers: number, most: number): Promise<boolean> {
      return (await take.changes(vouchers, rowId, most)) === 1
    },

    /** File the batch and the label of a voucher that was just issued. */
    file(handle: Uint8Array, batchRowId: number | null, label: string | null): void {
      insertLabel.run(handle, batchRowId, label)
    },

    async figures(rowId: number, now: number): Promise<BatchFigures> {
      const row = await figures.get(now, rowId)
      return row ?? { open: 0, expired: 0, claimed: 0, voided: 0 }
    },

    /** Handles of up to `most` vouchers of a batch that can be voided. */
    async openEnds(rowId: number, most: number): Promise<Uint8Array[]> {
      return (await openEnds.all(rowId, most)).map(({ handle }) => handle)
    },
  }
}

function toBatch(row: BatchRow): Batch {
  return {
    rowId: row.id,
    id: row.uuid,
    definitionRowId: row.definition_id,
    name: row.name,
    issued: row.issued,
    createdAt: row.created_at,
  }
}
