import { limits } from '../base/limits.ts'
import { checkCounters } from './check-counters.ts'
import { checkLedger } from './check-ledger.ts'
import { checkPictures } from './check-pictures.ts'
import type { createReport, Pause, Walk } from './check-report.ts'
import { type CheckWords, rowRules, tables } from './check-rules.ts'
import type { Sql } from './sql.ts'

type Parts = {
  words: CheckWords
  report: Pick<ReturnType<typeof createReport>, 'add' | 'rows'>
  pause: Pause
}

/** Verify in the snapshot of a connection that rows, counters and vouchers agree. Any engine. */
export async function checkRows(sql: Sql, { words, report, pause }: Parts): Promise<void> {
  const { add } = report
  const walk: Walk = {
    ...{ add, pause },
    slices: (table, rows = limits.checkSliceRows) => slices(sql, table, rows),
  }
  const counters = checkCounters(sql, walk)
  const manager = await sql
    .query<{ value: string }, []>("SELECT value FROM facts WHERE name = 'manager'")
    .get()
  const key = manager && Uint8Array.fromHex(manager.value)
  for (const table of tables) {
    const rules = rowRules(words)[table].map(({ where, says, ofManager }) => {
      const text = `SELECT t.id ${where} AND t.id > ?1 AND t.id <= ?2 ORDER BY t.id`
      const query = sql.query<{ id: number }, (number | Uint8Array | null)[]>(text)
      const find = (after: number, upto: number) =>
        ofManager ? query.all(after, upto, key) : query.all(after, upto)
      return { says, find }
    })
    for await (const { after, upto, size } of walk.slices(table)) {
      const started = performance.now()
      report.rows[table] += size
      for (const { find, says } of rules) {
        for (const { id } of await find(after, upto)) add(`${table} row ${id}: ${says}`)
      }
      await counters.count(table, after, upto)
      await pause(performance.now() - started)
    }
  }
  await checkKills(sql, add)
  await counters.compare()
  await checkLedger(sql, walk)
}

/** Verify the bytes of the pictures. It is apart, because it takes its time and needs no snapshot. */
export function checkPictureBytes(
  sql: Sql,
  { report, pause }: Omit<Parts, 'words'>,
): Promise<void> {
  return checkPictures(sql, {
    ...{ add: report.add, pause },
    slices: (table, rows = limits.checkSlicePictures) => slices(sql, table, rows),
  })
}

/** Ranges of ids with so many rows each. Ids may have gaps. */
async function* slices(sql: Sql, table: string, rows: number) {
  const next = sql.query<{ upto: number | null; size: number }, [number, number]>(
    `SELECT max(id) AS upto, count(*) AS size
     FROM (SELECT id FROM ${table} WHERE id > ? ORDER BY id LIMIT ?) AS slice`,
  )
  let after = Number.MIN_SAFE_INTEGER
  for (;;) {
    const { upto, size } = (await next.get(after, rows)) ?? { upto: null, size: 0 }
    // Above 2^53 the next id would equal this one, and the loop would never end.
    if (upto === null || upto <= after) return
    yield { after, upto, size }
    after = upto
  }
}

/** Check that no cut-off of the kill switch is above the newest voucher. */
async function checkKills(sql: Sql, add: Walk['add']): Promise<void> {
  const beyond = sql.query<{ definition_id: number }, []>(
    `SELECT definition_id FROM kills
     WHERE upto_voucher_id > (SELECT coalesce(max(id), 0) FROM vouchers)`,
  )
  for (const { definition_id: id } of await beyond.all()) {
    add(`definitions row ${id}: its kill switch reaches beyond the newest voucher`)
  }
}
