import { bytesOf } from '../base/bytes.ts'
import { limits } from '../base/limits.ts'
import type { Sql } from '../db/sql.ts'
import type { NostrEvent } from '../nostr/event.ts'
import { createMatcher, type Filter } from '../nostr/filter.ts'
import { classOf, newer } from '../nostr/kind-class.ts'
import { fitAnswer } from './answer.ts'

/** `tie` orders those of one second. */
type EventRow = { event: string; created_at: number; tie: Uint8Array | number }

/** Before every event id. */
const beforeAll = new Uint8Array()

/** An event as it is stored: its seven fields, and their JSON. */
export type StoredEvent = { event: NostrEvent; text: string }

type Looked = {
  /** Rows that were looked at; large ones count more than once (`relayRowChars`). */
  visited: number
  /** There may be more than was looked at. */
  cut: boolean
}

/** Newest first and, at the same second, lower id first (NIP-01). */
type Found = Looked & { events: StoredEvent[] }

/** Part of an index, newest first: what one value of a filter's lists selects. */
type Cursor = {
  /** Up to `most` rows behind `last`, or from the first on. */
  page(since: number, last: EventRow | null, most: number): Promise<EventRow[]>
  /** How many rows there are, counted up to `limits.relayProbeRows`. */
  probe(): Promise<number>
}

type Range = { since: number; until: number; now: number }

/** Queries of the embedded relay: every filter is answered from the index with the fewest rows for it. */
export function createQueryStore(sql: Sql) {
  const cursors = prepareCursors(sql)

  /** Every way to find a filter's events, each by one index. */
  const plans = (filter: Filter, range: Range): Cursor[][] => {
    const { ids, authors, kinds } = filter
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

  const look = async <K extends Kept>(
    filter: Filter,
    now: number,
    { most, rowsMax, keep }: Pick<Wanted<K>, 'most' | 'rowsMax' | 'keep'>,
  ): Promise<Collected<K>> => {
    if (filter.search !== undefined || most === 0) return { kept: [], visited: 0, cut: false }
    const { since = 0, until = Number.MAX_SAFE_INTEGER } = filter
    const { plan, counted } = await findShortest(plans(filter, { since, until, now }), rowsMax)
    const matches = createMatcher(filter)
    const found = await collect(plan, { matches, since, most, rowsMax, keep })
    return { ...found, visited: found.visited + counted }
  }

  return {
    /**
     * The newest events that match, at most `most` and as many as one answer carries. At most `rowsMax`
     * rows are looked at: a filter that matches little among much may be answered in part, and `cut` says so.
     */
    async find(
      filter: Filter,
      now: number,
      most: number,
      rowsMax: number = limits.relayRowsVisitedMax,
    ): Promise<Found> {
      const keep = (event: NostrEvent, text: string) => ({ event, text })
      const { kept, ...looked } = await look(filter, now, { most, rowsMax, keep })
      return { ...looked, events: kept }
    },

    /** The ids of all events that match; like `find`, in part where that is more than `rowsMax` rows. */
    async count(
      filter: Filter,
      now: number,
      rowsMax: number = limits.relayRowsVisitedMax,
    ): Promise<Looked & { ids: string[] }> {
      // Without their texts: there may be thousands of events of 256 KiB.
      const keep = ({ id, created_at }: NostrEvent) => ({ event: { id, created_at }, text: '' })
      const most = Number.POSITIVE_INFINITY
      const { kept, ...looked } = await look(filter, now, { most, rowsMax, keep })
      return { ...looked, ids: kept.map(({ event }) => event.id) }
    },
  }
}

/**
 * The plan with the fewest rows, and how many were counted to know; counting one stops where it can
 * no longer be that, and counting altogether at the bound of what a filter may look at.
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
      // Finding nothing takes a look, too.
      counted += Math.max(found, 1)
    }
    if (counted >= rowsMax) break
    if (rows < best.rows) best = { plan, rows }
  }
  return { plan: best.plan, counted }
}

/** As much of an event as has to be remembered until all rows were looked at. */
type Kept = { event: Pick<NostrEvent, 'id' | 'created_at'>; text: string }
type Collected<K> = Looked & { kept: K[] }
type Wanted<K> = {
  matches: (event: NostrEvent) => boolean
  since: number
  most: number
  rowsMax: number
  keep: (event: NostrEvent, text: string) => K
}

/**
 * The newest of all lists together. First a share of each; the most recent `most` of these set the
 * second from which the lists that had more to give are read on.
 */
async function collect<K extends Kept>(
  cursors: readonly Cursor[],
  { matches, since, most, rowsMax, keep }: Wanted<K>,
): Promise<Collected<K>> {
  const found = new Map<string, K>()
  let chars = 0
  let from = since
  let visited = 0

  /** Keep the newest `most` that one answer carries; older ones are not asked for any more. */
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
  let rowsRead = 0
  let charsRead = 0
  /** How many rows to read next: as large as those before, they come to a page. */
  const pageRows = (wanted: number) => {
    const first = limits.relayFirstPageRows
    const fit = rowsRead === 0 ? first : (limits.relayPageChars * rowsRead) / charsRead
    return Math.ceil(Math.min(Math.max(wanted + 1, first), fit, limits.relayPageRowsMax))
  }
  /** Take the `wanted` newest that match, and whoever shares the last one's second; false when there may be more. */
  const take = async (cursor: Cursor, wanted: number, visitsMax: number): Promise<boolean> => {
    const ceiling = Math.min(visited + visitsMax, rowsMax)
    const charsMax = chars + limits.relayAnswerCharsMax
    let taken = 0
    let end: EventRow | null = null
    for (;;) {
      const size = pageRows(wanted - taken)
      const rows: EventRow[] = await cursor.page(from, end, size)
      rowsRead += rows.length
      for (const { event } of rows) charsRead += event.length
      for (const row of rows) {
        const shared = row.created_at === end?.created_at
        const full = visited >= ceiling || chars >= charsMax
        if (full || (taken >= wanted && !shared)) return false
        visited += Math.max(1, Math.floor(row.event.length / limits.relayRowChars) - 1)
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
  const visits = Math.ceil(rowsMax / Math.max(cursors.length, 1))
  const unfinished: Cursor[] = []
  for (const cursor of cursors) {
    if (!(await take(cursor, share, visits))) unfinished.push(cursor)
    if (found.size >= most * 2 || chars >= limits.relayAnswerCharsMax * 2) trim()
  }
  trim()
  let cut = false
  if (cursors.length > 1) {
    for (const cursor of unfinished) {
      await take(cursor, most, rowsMax)
      trim()
    }
  }
  cut = visited >= rowsMax
  return { kept: [...found.values()].sort(byTime), visited, cut }
}

/** The statements behind the cursors: each reads one index, and nothing but its range of it. */
function prepareCursors(sql: Sql) {
  /** A cursor of each value of one kind of index, whose first columns these are. */
  const prepare = <Key extends (string | number | Uint8Array)[]>(...columns: string[]) => {
    const key = columns.map((column, at) => `${column} = ?${at + 1} AND `).join('')
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

/** The index of tags keeps the start of a value; the whole is compared afterwards. */
function indexedValue(value: string): string {
  return value.slice(0, limits.relayTagCharsMax)
}

/** No letter of a filter: further `d` tags of addressable events are indexed here, with kind and author. */
const furtherIdentifier = 'd+'

function addressText(author: string, kind: number, d: string): string {
  return `${kind}:${author}:${d}`
}

/**
 * The rows that an event has in the index of tags: letter and value. The first `d` tag of an addressable
 * event is its address, but a `#d` filter selects it by any of them: those behind the first are indexed
 * by author and kind as well, so that a query by address finds the event.
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
