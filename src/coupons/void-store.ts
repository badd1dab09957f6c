import type { Sql } from '../db/sql.ts'
import type { Voucher } from './voucher.ts'

/** A cut-off: vouchers of a definition up to row `upto` are void, and rows up to `swept` are marked so. */
type Kill = { couponId: string; definitionRowId: number; upto: number; swept: number }

/**
 * Condition for rows that are stored as minted and that no cut-off of the kill switch covers. A query for one value, since
 * PostgreSQL makes a join of NOT EXISTS, which takes it longer to begin than to run.
 */
export const openRow = `phase = 'minted' AND (
  SELECT k.killed_at FROM kills k WHERE k.definition_id = vouchers.definition_id
    AND k.upto_voucher_id >= vouchers.id LIMIT 1) IS NULL`

/** The counter of open vouchers that expire. */
export function createExpiryCounter(sql: Sql) {
  const close = sql.query<null, [number, number]>(
    sql.counters.addToExisting('expiries', {
      keys: { definition_id: '?1', expires_at: '?2' },
      by: { open: '-1' },
    }),
  )
  return {
    /** An open voucher was claimed or voided. */
    close({ definitionRowId, terms }: Voucher): void {
      if (terms.expiresAt !== null) close.run(definitionRowId, terms.expiresAt)
    },
  }
}

/** The part of the voucher store that voids: one voucher, or all of a definition by the kill switch. */
export function createVoidStore(sql: Sql) {
  const voidOne = sql.query<null, [number, number]>(
    `UPDATE vouchers SET phase = 'voided', ended_at = ?1 WHERE id = ?2 AND ${openRow}`,
  )
  const countVoided = sql.query<null, [number, number]>(
    sql.counters.addToExisting('definitions', { keys: { id: '?2' }, by: { voided: '?1' } }),
  )
  const countTotal = sql.query<null, [number]>(
    sql.counters.addToExisting('totals', { keys: { id: '1' }, by: { voided: '?1' } }),
  )
  const expiries = createExpiryCounter(sql)
  const closeAll = sql.query<null, [number]>(sql.counters.drop('expiries'))
  const newest = sql.query<{ id: number }, [number]>(
    'SELECT id FROM vouchers WHERE definition_id = ? ORDER BY id DESC LIMIT 1',
  )
  const insertKill = sql.query<null, [number, number, number]>(
    `INSERT INTO kills (definition_id, upto_voucher_id, killed_at) VALUES (?, ?, ?)
     ON CONFLICT (definition_id, upto_voucher_id) DO NOTHING`,
  )
  const nextKill = sql.query<
    { uuid: string; definition_id: number; upto_voucher_id: number; swept_voucher_id: number },
    []
  >(
    `SELECT (SELECT uuid FROM definitions d WHERE d.id = definition_id) AS uuid,
       definition_id, upto_voucher_id, swept_voucher_id
     FROM kills ORDER BY definition_id, upto_voucher_id LIMIT 1`,
  )
  // One step is bounded in rows read, not in rows changed: most of them may have ended before.
  const sweepEnd = sql.query<{ id: number | null }, [number, number, number, number]>(
    `SELECT max(id) AS id FROM (SELECT id FROM vouchers
       WHERE definition_id = ? AND id > ? AND id <= ? ORDER BY id LIMIT ?)`,
  )
  const markKilled = sql.query<null, [number, number, number, number]>(
    `UPDATE vouchers SET phase = 'voided', ended_at =
       (SELECT killed_at FROM kills WHERE definition_id = ?1 AND upto_voucher_id = ?4)
     WHERE definition_id = ?1 AND id > ?2 AND id <= ?3 AND phase = 'minted'`,
  )
  const moveSweep = sql.query<null, [number, number, number]>(
    'UPDATE kills SET swept_voucher_id = ? WHERE definition_id = ? AND upto_voucher_id = ?',
  )
  const deleteKill = sql.query<null, [number, number]>(
    'DELETE FROM kills WHERE definition_id = ? AND upto_voucher_id = ?',
  )

  return {
    /** Void an open voucher, expired or not. False if it was not open. */
    async void(voucher: Voucher, now: number): Promise<boolean> {
      if ((await voidOne.changes(now, voucher.rowId)) !== 1) return false
      countVoided.run(1, voucher.definitionRowId)
      expiries.close(voucher)
      countTotal.run(1)
      return true
    },

    /** Void all open vouchers of a definition with one cut-off row, which every check reads. */
    async kill(definitionRowId: number, openCount: number, now: number): Promise<void> {
      // Row ids rise, so vouchers that are minted later lie behind the cut-off.
      const last = await newest.get(definitionRowId)
      if (!last) return
      insertKill.run(definitionRowId, last.id, now)
      countVoided.run(openCount, definitionRowId)
      // A row for each expiry that the definition had, not for each voucher.
      closeAll.run(definitionRowId)
      countTotal.run(openCount)
    },

    /** The next cut-off to mark. Oldest first, so that each row gets the time of the cut-off that voided it. */
    async nextKill(): Promise<Kill | null> {
      const row = await nextKill.get()
      return (
        row && {
          couponId: row.uuid,
          definitionRowId: row.definition_id,
          upto: row.upto_voucher_id,
          swept: row.swept_voucher_id,
        }
      )
    },

    /** Mark up to `rowsMax` rows of a cut-off, and delete the cut-off when none remain. */
    async sweep(kill: Kill, rowsMax: number): Promise<void> {
      const { definitionRowId, upto, swept } = kill
      const end = (await sweepEnd.get(definitionRowId, swept, upto, rowsMax))?.id ?? upto
      markKilled.run(definitionRowId, swept, end, upto)
      if (end >= upto) deleteKill.run(definitionRowId, upto)
      else moveSweep.run(end, definitionRowId, upto)
    },
  }
}
