import { bytesOf } from '../base/bytes.ts'
import { limits } from '../base/limits.ts'
import type { Sql } from '../db/sql.ts'
import type { NostrEvent } from '../nostr/event.ts'
import { createMatcher, type Filter } from '../nostr/filter.ts'
import { classOf, newer } from '../nostr/kind-class.ts'
import { fitAnswer } from './answer.ts'

/** A row of an index. `tie` orders the events of one second. */
type EventRow = { event: string; created_at: number; tie: Uint8Array | number }

/** An id before all event ids. */
const beforeAll = new Uint8Array()

/** A stored event, and its JSON text. */
export type StoredEvent = { event: NostrEvent; text: string }

type Scan = {
  /** Rows that were read. Large ones count several times (`relayRowChars`). */
  rowsRead: number
  /** True if the bound of rows was reached, so that events may be missing. */
  truncated: boolean
}

/** Result of a query, newest first, and at the same second the lower id first (NIP-01). */
type Found = Scan & { events: StoredEvent[] }

/** A range of an index, newest first. One value of a filter's lists selects it. */
type Cursor = {
  /** True if events of one second come in the order of an answer: the lower id first. */
  ordersTies: boolean
  /** Up to `most` rows after `last`, or from the start. */
  page(since: number, last: EventRow | null, most: number): Promise<EventRow[]>
  /** Number of rows, counted up to `relayProbeRows`. */
  probe(): Promise<number>
}

type Range = { since: number; until: number; now: number }

/** Create the queries of the embedded relay. Each filter reads the index that has the fewest rows for it. */
export function createQueryStore(sql: Sql) {
  const cursors = prepareCursors(sql)

  /** All plans that find the events of a filter, each by one index. */
  const plans = (filter: Filter, range: Range): Cursor[][] => {
    const { ids, authors, kinds } = filter
    // Ids are unique, so no other index can be shorter.
    if (ids) return [ids.map((id) => cursors.id(range, id))]
    const found = [...filter.tags].map(([letter, values]) =>
      values.map((value) => cursors.tag(range, letter, value)),
    )
    if (authors && kinds && authors.length * kinds.length <= limits.relayCursorsMax) {
      const identifiers = filter.tags.get('d')
      const pairs = authors.flatMap((author) => kinds.map((kind) => [author, kind] as const))
      found.push(pairs.map(([author, kind]) => cursors.authorKind(range, author, kind)))
      if (identifiers && kinds.every((kind) => classOf(kind) === 'addressable')) {
        const addresses = pairs.flatMap(([author, kind]) =>
          identifiers.flatMap((d) => [
            cursors.address(range, author, kind, d),
            cursors.tag(range, furtherIdentifier, addressText(author, kind, d)),
          ]),
        )
        if (addresses.length <= limits.relayCursorsMax) found.push(addresses)
      }
    } else if (authors) found.push(authors.map((author) => cursors.author(range, author)))
    else if (kinds) found.push(kinds.map((kind) => cursors.kind(range, kind)))
    return found.length > 0 ? found : [[cursors.time(range)]]
  }

  const scan = async <K extends Kept>(
    filter: Filter,
    now: number,
    { most, rowsMax, keep }: Pick<Wanted<K>, 'most' | 'rowsMax' | 'keep'>,
  ): Promise<Collected<K>> => {
    if (filter.search !== undefined || most === 0)
      return { kept: [], rowsRead: 0, truncated: false }
    const { since = 0, until = Number.MAX_SAFE_INTEGER } = filter
    const { plan, counted } = await findShortest(plans(filter, { since, until, now }), rowsMax)
    const matches = createMatcher(filter)
    const found = await collect(plan, { matches, since, most, rowsMax, keep })
    return { ...found, rowsRead: found.rowsRead + counted }
  }

  return {
    /**
     * Find the newest matching events: up to `most`, and as many as one answer may hold. It reads up to `rowsMax`
     * rows. A filter that matches few of many rows may get a part only, and `truncated` is true then.
     */
    async find(
      filter: Filter,
      now: number,
      most: number,
      rowsMax: number = limits.relayRowsReadMax,
    ): Promise<Found> {
      const keep = (event: NostrEvent, text: string) => ({ event, text })
      const { kept, ...counts } = await scan(filter, now, { most, rowsMax, keep })
      return { ...counts, events: kept }
    },

    /** Find the ids of all matching events. It reads up to `rowsMax` rows, like `find`. */
    async count(
      filter: Filter,
      now: number,
      rowsMax: number = limits.relayRowsReadMax,
    ): Promise<Scan & { ids: string[] }> {
      // The texts are dropped at once, because there may be thousands of events of 256 KiB.
      const keep = ({ id, created_at }: NostrEvent) => ({ event: { id, created_at }, text: '' })
      const most = Number.POSITIVE_INFINITY
      const { kept, ...counts } = await scan(filter, now, { most, rowsMax, keep })
      return { ...counts, ids: kept.map(({ event }) => event.id) }
    },
  }
}

/**
 * Find the plan with the fewest rows, and return how many rows were counted for it. The count of a plan stops when
 * another one is shorter, and all counting stops at `rowsMax`, because counting reads rows, too.
 */
async function findShortest(
  plans: Cursor[][],
  rowsMax: number,
): Promise<{ plan: Cursor[]; counted: number }> {
  const [only, ...others] = plans
  if (only === undefined || others.length === 0) return { plan: only ?? [], counted: 0 }
  let best = { plan: only, rows: Number.POSITIVE_INFINITY }
  let counted = 0
  for (const plan of plans) {
    let rows = 0
    for (const cursor of plan) {
      if (rows >= best.rows || counted >= rowsMax) break
      const found = await cursor.probe()
      rows += found
      // An empty range costs one look-up.
      counted += Math.max(found, 1)
    }
    if (counted >= rowsMax) break
    if (rows < best.rows) best = { plan, rows }
  }
  return { plan: best.plan, counted }
}

/** The part of an event that is kept until all rows are read. */
type Kept = { event: Pick<NostrEvent, 'id' | 'created_at'>; text: string }
type Collected<K> = Scan & { kept: K[] }
type Wanted<K> = {
  matches: (event: NostrEvent) => boolean
  since: number
  most: number
  rowsMax: number
  keep: (event: NostrEvent, text: string) => K
}

/**
 * Merge the ranges of a plan and return the newest events. First it reads an equal part of each range. The newest
 * `most` of them set the oldest second that still matters, and the unfinished ranges are read on down to it.
 */
async function collect<K extends Kept>(
  cursors: readonly Cursor[],
  { matches, since, most, rowsMax, keep }: Wanted<K>,
): Promise<Collected<K>> {
  const found = new Map<string, K>()
  let chars = 0
  let from = since
  let rowsRead = 0

  /** Keep the newest `most` events that fit one answer. Older ones are not read any more. */
  const trim = () => {
    if (found.size < most && chars <= limits.relayAnswerCharsMax) return
    const newest = fitAnswer([...found.values()].sort(byTime).slice(0, most))
    found.clear()
    chars = 0
    for (const one of newest) {
      found.set(one.event.id, one)
      chars += one.text.length
    }
    from = Math.max(from, newest.at(-1)?.event.created_at ?? 0)
  }
  let pageRowsRead = 0
  let charsRead = 0
  /** Number of rows to read next, so that they fill one page if they are as large as the rows before. */
  const pageRows = (wanted: number) => {
    const first = limits.relayFirstPageRows
    const fit = pageRowsRead === 0 ? first : (limits.relayPageChars * pageRowsRead) / charsRead
    return Math.ceil(Math.min(Math.max(wanted + 1, first), fit, limits.relayPageRowsMax))
  }
  /**
   * Take the `wanted` newest matches, and all of the last one's second unless the index orders it. False if the
   * range may have more.
   */
  const take = async (cursor: Cursor, wanted: number, shareMax: number): Promise<boolean> => {
    const ceiling = Math.min(rowsRead + shareMax, rowsMax)
    const charsMax = chars + limits.relayAnswerCharsMax
    let taken = 0
    let end: EventRow | null = null
    for (;;) {
      if (cursor.ordersTies && taken >= wanted) return false
      const size = pageRows(wanted - taken)
      const rows: EventRow[] = await cursor.page(from, end, size)
      pageRowsRead += rows.length
      for (const { event } of rows) charsRead += event.length
      for (const row of rows) {
        const shared = !cursor.ordersTies && row.created_at === end?.created_at
        const full = rowsRead >= ceiling || chars >= charsMax
        if (full || (taken >= wanted && !shared)) return false
        rowsRead += Math.max(1, Math.floor(row.event.length / limits.relayRowChars) - 1)
        const event = JSON.parse(row.event) as NostrEvent
        end = row
        if (!matches(event)) continue
        if (!found.has(event.id)) {
          const kept = keep(event, row.event)
          found.set(event.id, kept)
          chars += kept.text.length
        }
        taken++
      }
      if (rows.length < size) return true
    }
  }

  const share = cursors.length > 1 ? Math.ceil(most / cursors.length) : most
  const rowsShare = Math.ceil(rowsMax / Math.max(cursors.length, 1))
  const unfinished: Cursor[] = []
  for (const cursor of cursors) {
    if (!(await take(cursor, share, rowsShare))) unfinished.push(cursor)
    if (found.size >= most * 2 || chars >= limits.relayAnswerCharsMax * 2) trim()
  }
  trim()
  if (cursors.length > 1) {
    for (const cursor of unfinished) {
      await take(cursor, most, rowsMax)
      trim()
    }
  }
  const kept = [...found.values()].sort(byTime)
  return { kept, rowsRead, truncated: rowsRead >= rowsMax }
}

/** Prepare the statements of the cursors. Each reads one range of one index. */
function prepareCursors(sql: Sql) {
  /** Prepare the cursors of an index that begins with these columns. */
  const prepare = <Key extends (string | number | Uint8Array)[]>(...columns: string[]) => {
    const is = (column: string, parameter: string) =>
      column === 'd' ? sql.longTexts.is(column, parameter) : `${column} = ${parameter}`
    const key = columns.map((column, at) => `${is(column, `?${at + 1}`)} AND `).join('')
    const parameter = (number: number) => `?${columns.length + number}`
    const range = `created_at BETWEEN ${parameter(1)} AND ${parameter(2)}`
    const rows = sql.query<EventRow, (string | number | Uint8Array)[]>(
      `SELECT event, created_at, event_id AS tie FROM events
       WHERE ${key}${range} AND NOT (created_at = ${parameter(2)} AND event_id <= ${parameter(3)})
         AND (expires_at IS NULL OR expires_at > ${parameter(4)})
       ORDER BY created_at DESC, event_id LIMIT ${parameter(5)}`,
    )
    const count = sql.query<{ n: number }, (string | number | Uint8Array)[]>(
      `SELECT count(*) AS n FROM
         (SELECT 1 FROM events WHERE ${key}${range} LIMIT ${parameter(3)}) AS counted`,
    )
    return ({ since, until, now }: Range, ...values: Key): Cursor => ({
      ordersTies: true,
      page: (from, last, most) => {
        const { created_at: to, tie } = last ?? { created_at: until, tie: beforeAll }
        return rows.all(...values, Math.max(since, from), to, tie, now, most)
      },
      probe: async () => (await count.get(...values, since, until, limits.relayProbeRows))?.n ?? 0,
    })
  }

  const author = prepare<[Uint8Array]>('pubkey')
  const authorKind = prepare<[Uint8Array, number]>('pubkey', 'kind')
  const address = prepare<[Uint8Array, number, string]>('pubkey', 'kind', 'd')
  const id = prepare<[Uint8Array]>('event_id')
  const tagRows = sql.query<EventRow, [string, string, number, number, number, number, number]>(
    `SELECT e.event, t.created_at, t.id AS tie FROM tags t JOIN events e ON e.id = t.id
     WHERE t.letter = ?1 AND t.value = ?2 AND t.created_at BETWEEN ?3 AND ?4
       AND NOT (t.created_at = ?4 AND t.id <= ?5) AND (e.expires_at IS NULL OR e.expires_at > ?6)
     ORDER BY t.created_at DESC, t.id LIMIT ?7`,
  )
  const tagCount = sql.query<{ n: number }, [string, string, number, number, number]>(
    `SELECT count(*) AS n FROM (SELECT 1 FROM tags
     WHERE letter = ? AND value = ? AND created_at BETWEEN ? AND ? LIMIT ?) AS counted`,
  )

  return {
    time: prepare<[]>(),
    kind: prepare<[number]>('kind'),
    author: (range: Range, pubkey: string) => author(range, bytesOf(pubkey)),
    authorKind: (range: Range, pubkey: string, kind: number) =>
      authorKind(range, bytesOf(pubkey), kind),
    address: (range: Range, pubkey: string, kind: number, d: string) =>
      address(range, bytesOf(pubkey), kind, d),
    id: (range: Range, hex: string) => id(range, bytesOf(hex)),
    tag({ since, until, now }: Range, letter: string, value: string): Cursor {
      const key = [letter, indexedValue(value)] as const
      return {
        // Its rows of one second come in the order of their arrival.
        ordersTies: false,
        page: (from, last, most) => {
          const { created_at: to, tie } = last ?? { created_at: until, tie: 0 }
          return tagRows.all(...key, Math.max(since, from), to, Number(tie), now, most)
        },
        probe: async () =>
          (await tagCount.get(...key, since, until, limits.relayProbeRows))?.n ?? 0,
      }
    },
  }
}

/** The indexed start of a tag value. The matcher compares the whole value afterwards. */
function indexedValue(value: string): string {
  return value.slice(0, limits.relayTagCharsMax)
}

/** Index name of further `d` tags of addressable events, with kind and author. No filter can ask for it. */
const furtherIdentifier = 'd+'

function addressText(author: string, kind: number, d: string): string {
  return `${kind}:${author}:${d}`
}

/**
 * Rows of an event in the tag index: letter and value. Only the first `d` tag of an addressable event is its
 * address, but a `#d` filter matches any of them (NIP-01). Further ones are indexed with author and kind as well, so
 * that the plan by address finds the event.
 */
export function indexedTags({ kind, pubkey, tags }: NostrEvent): (readonly [string, string])[] {
  const rows: (readonly [string, string])[] = []
  let places = 0
  for (const [name = '', value] of tags) {
    const further = name === 'd' && ++places > 1 && classOf(kind) === 'addressable'
    if (value === undefined || !/^[a-zA-Z]$/.test(name)) continue
    rows.push([name, indexedValue(value)])
    if (further) rows.push([furtherIdentifier, indexedValue(addressText(pubkey, kind, value))])
  }
  return rows
}

function byTime(a: Kept, b: Kept): number {
  return newer(a.event, b.event) ? -1 : a.event.id === b.event.id ? 0 : 1
}
