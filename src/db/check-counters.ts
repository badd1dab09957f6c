import { hexOf } from '../base/bytes.ts'
import type { Walk } from './check-report.ts'
import type { Sql } from './sql.ts'

/** Counts of the vouchers of one definition. Vouchers stopped by the kill switch count as voided. */
type Counts = { roots: number; ends: number; claimed: number; voided: number; refreshed: number }

/** Minted and redeemed vouchers of one definition, by hour. */
type Hours = Map<number, { minted: number; claimed: number }>

/** Numbers by a name: that of their definition and expiry, or of their till and hour. */
type Numbers = Map<string, number>

type Counted = {
  counts: Map<number, Counts>
  hours: Map<number, Hours>
  open: Numbers
  tills: Numbers
}

/** Rows of a counter that an engine keeps, added up. A name may have several. */
type Kept = Map<string, number>

/**
 * Check the counters: `count` takes the rows of a range of ids, and `compare` compares them with the counters in
 * the end. An engine may keep a counter as a sum and changes that are not folded yet: both count.
 */
export function checkCounters(sql: Sql, walk: Walk) {
  const counted: Counted = {
    counts: new Map(),
    hours: new Map(),
    open: new Map(),
    tills: new Map(),
  }
  const counts = countVouchers(sql, counted.counts)
  const hours = countHours(sql, counted.hours)
  const open = countExpiries(sql, counted.open)
  const tills = countTills(sql, counted.tills)
  return {
    async count(table: string, after: number, upto: number): Promise<void> {
      if (table === 'vouchers') {
        await counts(after, upto)
        await hours(after, upto)
        await open(after, upto)
      }
      if (table === 'redemptions') await tills(after, upto)
    },
    async compare(): Promise<void> {
      await checkTills(sql, counted.tills, walk.add)
      await checkExpiries(sql, counted.open, walk.add)
      await checkLoad(sql, walk.add)
      await checkHours(sql, counted.hours, walk)
      await checkSums(sql, counted.counts, walk)
    },
  }
}

/** Count the vouchers of a range of ids by definition. */
function countVouchers(sql: Sql, counted: Map<number, Counts>) {
  const count = sql.query<Counts & { id: number }, [number, number]>(
    `SELECT definition_id AS id,
       count(*) FILTER (WHERE root_id IS NULL) AS roots,
       count(*) FILTER (WHERE phase <> 'refreshed') AS ends,
       count(*) FILTER (WHERE phase = 'claimed') AS claimed,
       count(*) FILTER (WHERE phase = 'voided' OR (phase = 'minted' AND id <= coalesce(
         (SELECT max(k.upto_voucher_id) FROM kills k WHERE k.definition_id = v.definition_id), 0)
       )) AS voided,
       count(*) FILTER (WHERE phase = 'refreshed') AS refreshed
     FROM vouchers v WHERE id > ? AND id <= ? GROUP BY definition_id`,
  )
  return async (after: number, upto: number): Promise<void> => {
    for (const { id, ...found } of await count.all(after, upto)) {
      const sum = counted.get(id)
      if (!sum) counted.set(id, found)
      else for (const name of Object.keys(found) as (keyof Counts)[]) sum[name] += found[name]
    }
  }
}

/** Count the open vouchers of a range of ids that expire, by definition and expiry. */
function countExpiries(sql: Sql, counted: Numbers) {
  const count = sql.query<{ id: number; expires_at: number; open: number }, [number, number]>(
    `SELECT v.definition_id AS id, r.expires_at, count(*) AS open
     FROM vouchers v JOIN revisions r ON r.id = v.revision_id
     WHERE v.id > ? AND v.id <= ? AND v.phase = 'minted' AND r.expires_at IS NOT NULL
       AND NOT EXISTS (SELECT 1 FROM kills k
         WHERE k.definition_id = v.definition_id AND k.upto_voucher_id >= v.id)
     GROUP BY v.definition_id, r.expires_at`,
  )
  return async (after: number, upto: number): Promise<void> => {
    for (const { id, expires_at, open } of await count.all(after, upto)) {
      grow(counted, `${id} ${expires_at}`, open)
    }
  }
}

/** Count the redemptions of a range of ids by till and hour. */
function countTills(sql: Sql, counted: Numbers) {
  type Row = { owner: Uint8Array; pubkey: Uint8Array | null; hour: number; claimed: number }
  const count = sql.query<Row, [number, number]>(
    `SELECT x.owner, t.pubkey, v.ended_at / 3600 AS hour, count(*) AS claimed
     FROM redemptions x JOIN vouchers v ON v.id = x.voucher_id LEFT JOIN tills t ON t.id = x.till_id
     WHERE x.id > ? AND x.id <= ? GROUP BY x.owner, t.pubkey, v.ended_at / 3600`,
  )
  return async (after: number, upto: number): Promise<void> => {
    for (const { owner, pubkey, hour, claimed } of await count.all(after, upto)) {
      grow(counted, tillName(owner, pubkey ?? new Uint8Array(32), hour), claimed)
    }
  }
}

/** Count the expected hourly counters of a range of ids by definition. */
function countHours(sql: Sql, counted: Map<number, Hours>) {
  type Row = { id: number; hour: number; minted: number; claimed: number }
  const count = sql.query<Row, [number, number]>(
    `SELECT id, hour, CAST(sum(minted) AS BIGINT) AS minted, CAST(sum(claimed) AS BIGINT) AS claimed
     FROM (SELECT definition_id AS id, minted_at / 3600 AS hour, 1 AS minted, 0 AS claimed
       FROM vouchers WHERE id > ?1 AND id <= ?2 AND root_id IS NULL
       UNION ALL
       SELECT definition_id, ended_at / 3600, 0, 1
       FROM vouchers WHERE id > ?1 AND id <= ?2 AND phase = 'claimed') AS one
     GROUP BY id, hour`,
  )
  return async (after: number, upto: number): Promise<void> => {
    for (const { id, hour, minted, claimed } of await count.all(after, upto)) {
      const hours = counted.get(id) ?? new Map()
      counted.set(id, hours)
      const sum = hours.get(hour) ?? { minted: 0, claimed: 0 }
      hours.set(hour, { minted: sum.minted + minted, claimed: sum.claimed + claimed })
    }
  }
}

/** Check the counters of open vouchers that expire against the vouchers. */
async function checkExpiries(sql: Sql, counted: Numbers, add: Walk['add']): Promise<void> {
  type Row = { definition_id: number; expires_at: number; open: number }
  const says: Kept = new Map()
  const rows = sql.query<Row, []>(
    `SELECT definition_id, expires_at, open FROM ${sql.counters.rows('expiries')}`,
  )
  for (const { definition_id, expires_at, open } of await rows.all()) {
    grow(says, `${definition_id} ${expires_at}`, open)
  }
  compare(says, counted, (name, open, real) => {
    const [id, expiresAt] = name.split(' ')
    add(
      `definitions row ${id}: ${open} open vouchers expire at ${expiresAt}, but the vouchers are ${real}`,
    )
  })
}

/** Check the hourly counters of the tills against the redemptions. */
async function checkTills(sql: Sql, counted: Numbers, add: Walk['add']): Promise<void> {
  type Row = { owner: Uint8Array; pubkey: Uint8Array; hour: number; claimed: number }
  const says: Kept = new Map()
  const rows = sql.query<Row, []>(
    `SELECT t.owner, t.pubkey, h.hour, h.claimed
     FROM (SELECT * FROM ${sql.counters.rows('till_hours')}) AS h JOIN tills t ON t.id = h.till_id`,
  )
  for (const { owner, pubkey, hour, claimed } of await rows.all()) {
    grow(says, tillName(owner, pubkey, hour), claimed)
  }
  compare(says, counted, (name, claimed, real) => {
    const [owner, pubkey, hour] = name.split(' ')
    add(
      `till ${owner} ${pubkey}: hour ${hour} says ${claimed} redeemed, but the redemptions are ${real}`,
    )
  })
}

/** Check the counters of what waits and of what is remembered against their rows. */
async function checkLoad(sql: Sql, add: Walk['add']): Promise<void> {
  type Count = Record<string, number>
  const kept = [
    {
      name: 'outbox load',
      says: `SELECT ${total('events')}, ${total('bytes')} FROM ${sql.counters.rows('outbox_load')}`,
      counted: `SELECT count(*) AS events, ${total('bytes')} FROM outbox WHERE done_at IS NULL`,
    },
    {
      name: 'request load',
      says: `SELECT ${total('rows')} FROM ${sql.counters.rows('request_load')}`,
      counted: 'SELECT count(*) AS rows FROM requests',
    },
  ]
  for (const { name, says, counted } of kept) {
    const real = (await sql.query<Count, []>(counted).get()) ?? {}
    for (const [column, count] of Object.entries((await sql.query<Count, []>(says).get()) ?? {})) {
      if (count === real[column]) continue
      add(`${name}: ${column} is ${count}, but there are ${real[column]}`)
    }
  }
}

/** Check the hourly counters of the charts against the vouchers. */
async function checkHours(
  sql: Sql,
  counted: Map<number, Hours>,
  { add, pause, slices }: Walk,
): Promise<void> {
  const list = sql.query<{ id: number; uuid: string }, [number, number]>(
    'SELECT id, uuid FROM definitions WHERE id > ? AND id <= ?',
  )
  type Row = { id: number; hour: number; minted: number; claimed: number }
  const rows = sql.query<Row, [number, number]>(
    `SELECT definition_id AS id, hour, minted, claimed FROM ${sql.counters.rows('hourly')}
     WHERE definition_id > ? AND definition_id <= ?`,
  )
  for await (const { after, upto } of slices('definitions')) {
    const started = performance.now()
    const says = new Map<number, Hours>()
    for (const { id, hour, minted, claimed } of await rows.all(after, upto)) {
      const hours = says.get(id) ?? new Map()
      says.set(id, hours)
      const sum = hours.get(hour) ?? { minted: 0, claimed: 0 }
      hours.set(hour, { minted: sum.minted + minted, claimed: sum.claimed + claimed })
    }
    for (const { id, uuid } of await list.all(after, upto)) {
      const is = counted.get(id) ?? new Map()
      const said = says.get(id) ?? new Map()
      for (const hour of new Set([...said.keys(), ...is.keys()])) {
        const { minted, claimed } = said.get(hour) ?? { minted: 0, claimed: 0 }
        const real = is.get(hour) ?? { minted: 0, claimed: 0 }
        if (minted === real.minted && claimed === real.claimed) continue
        add(
          `coupon ${uuid}: hour ${hour} says ${minted} minted and ${claimed} redeemed, but the vouchers say ${real.minted} and ${real.claimed}`,
        )
      }
    }
    await pause(performance.now() - started)
  }
}

type Counters = { issued: number; claimed: number; voided: number }

/** Check that each definition has issued = open + claimed + voided, following refreshes, and that the totals are the sums. */
async function checkSums(
  sql: Sql,
  counted: Map<number, Counts>,
  { add, pause, slices }: Walk,
): Promise<void> {
  const sums = { issued: 0, claimed: 0, voided: 0, refreshed: 0 }
  const number = (name: string) => sql.counters.number('definitions', name, 'd')
  const list = sql.query<Counters & { id: number; uuid: string }, [number, number]>(
    `SELECT d.id, d.uuid, ${number('issued')} AS issued, ${number('claimed')} AS claimed, ${number('voided')} AS voided
     FROM definitions d WHERE d.id > ? AND d.id <= ?`,
  )
  const none: Counts = { roots: 0, ends: 0, claimed: 0, voided: 0, refreshed: 0 }
  for await (const { after, upto } of slices('definitions')) {
    const started = performance.now()
    for (const { id, uuid, issued, claimed, voided } of await list.all(after, upto)) {
      const is = counted.get(id) ?? none
      const differs = (counter: string, says: number, words: string, count: number) => {
        if (says !== count) {
          add(`coupon ${uuid}: ${counter} is ${says}, but ${words} ${count}`)
        }
      }
      differs('issued', issued, 'the vouchers first minted are', is.roots)
      differs('issued', issued, 'the vouchers at the end of a chain are', is.ends)
      differs('claimed', claimed, 'the vouchers redeemed are', is.claimed)
      differs('voided', voided, 'the vouchers voided are', is.voided)
      sums.issued += issued
      sums.claimed += claimed
      sums.voided += voided
      sums.refreshed += is.refreshed
    }
    await pause(performance.now() - started)
  }
  const names = ['issued', 'claimed', 'voided', 'refreshed'] as const
  const totals = await sql
    .query<typeof sums, []>(
      `SELECT ${names.map(total).join(', ')} FROM ${sql.counters.rows('totals')}`,
    )
    .get()
  for (const name of names) {
    if (totals?.[name] === sums[name]) continue
    add(`totals: ${name} is ${totals?.[name]}, but the sum is ${sums[name]}`)
  }
}

/** The sum of a column under its name. */
function total(name: string): string {
  return `CAST(coalesce(sum(${name}), 0) AS BIGINT) AS ${name}`
}

function tillName(owner: Uint8Array, pubkey: Uint8Array, hour: number): string {
  return `${hexOf(owner)} ${hexOf(pubkey)} ${hour}`
}

function grow(numbers: Map<string, number>, name: string, by: number): void {
  numbers.set(name, (numbers.get(name) ?? 0) + by)
}

/** Call `differs` for each name whose numbers are apart. A number that is missing is zero. */
function compare(
  says: Kept,
  counted: Numbers,
  differs: (name: string, says: number, real: number) => void,
): void {
  for (const name of new Set([...says.keys(), ...counted.keys()])) {
    const [said, real] = [says.get(name) ?? 0, counted.get(name) ?? 0]
    if (said !== real) differs(name, said, real)
  }
}
