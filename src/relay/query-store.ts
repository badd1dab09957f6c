import type { Database as Sqlite } from 'bun:sqlite'
import { limits } from '../base/limits.ts'
import type { NostrEvent } from '../nostr/event.ts'
import { createMatcher, type Filter } from '../nostr/filter.ts'
import { classOf, newer } from '../nostr/kind-class.ts'

type EventRow = { event: string; created_at: number }

/** An event as it is stored: its seven fields, and their JSON. */
export type StoredEvent = { event: NostrEvent; text: string }

type Found = {
  /** Newest first and, at the same second, lower id first (NIP-01). */
  events: StoredEvent[]
  /** Rows that were looked at. */
  visited: number
  /** There may be more than was looked at. */
  cut: boolean
}

/** Part of an index, newest first: what one value of a filter's lists selects. */
type Cursor = {
  rows(since: number): Iterable<EventRow>
  /** How many rows there are, counted up to `limits.relayProbeRows`. */
  probe(): number
}

type Range = { since: number; until: number; now: number }

/** Queries of the embedded relay: every filter is answered from the index with the fewest rows for it. */
export function createQueryStore(sql: Sqlite) {
  const cursors = prepareCursors(sql)

  /** Every way to find a filter's events, each by one index. */
  const plans = (filter: Filter, range: Range): Cursor[][] => {
    const { ids, authors, kinds } = filter
    if (ids) return [ids.map((id) => cursors.id(range, id))]
    const found = [...filter.tags].map(([letter, values]) =>
      values.map((value) => cursors.tag(range, letter, value)),
    )
    if (authors && kinds && authors.length * kinds.length <= limits.relayCursorsMax) {
      const places = filter.tags.get('d')
      const pairs = authors.flatMap((author) => kinds.map((kind) => [author, kind] as const))
      found.push(pairs.map(([author, kind]) => cursors.authorKind(range, author, kind)))
      if (places && kinds.every((kind) => classOf(kind) === 'addressable')) {
        const addresses = pairs.flatMap(([author, kind]) =>
          places.map((d) => cursors.address(range, author, kind, d)),
        )
        if (addresses.length <= limits.relayCursorsMax) found.push(addresses)
      }
    } else if (authors) found.push(authors.map((author) => cursors.author(range, author)))
    else if (kinds) found.push(kinds.map((kind) => cursors.kind(range, kind)))
    return found.length > 0 ? found : [[cursors.time(range)]]
  }

  return {
    /**
     * The newest events that match, at most `most`. At most `relayRowsVisitedMax` rows are looked at:
     * a filter that matches little among much may be answered in part, and `cut` says so.
     */
    find(filter: Filter, now: number, most: number): Found {
      if (filter.search !== undefined || most === 0) return { events: [], visited: 0, cut: false }
      const { since = 0, until = Number.MAX_SAFE_INTEGER } = filter
      const { plan, counted } = fewest(plans(filter, { since, until, now }))
      const found = collect(plan, { matches: createMatcher(filter), since, most })
      return { ...found, visited: found.visited + counted }
    },
  }
}

/**
 * The plan with the fewest rows, and how many were counted to know; counting one stops where it can
 * no longer be that, and counting altogether at the bound of what a filter may look at.
 */
function fewest(plans: Cursor[][]): { plan: Cursor[]; counted: number } {
  const [only, ...others] = plans
  if (only === undefined || others.length === 0) return { plan: only ?? [], counted: 0 }
  let best = { plan: only, rows: Number.POSITIVE_INFINITY }
  let counted = 0
  for (const plan of plans) {
    let rows = 0
    for (const cursor of plan) {
      if (rows >= best.rows || counted >= limits.relayRowsVisitedMax) break
      const found = cursor.probe()
      rows += found
      // Finding nothing takes a look, too.
      counted += Math.max(found, 1)
    }
    if (counted >= limits.relayRowsVisitedMax) break
    if (rows < best.rows) best = { plan, rows }
  }
  return { plan: best.plan, counted }
}

type Wanted = { matches: (event: NostrEvent) => boolean; since: number; most: number }

/**
 * The newest of all lists together. First a share of each; the most recent `most` of these set the
 * second from which the lists that had more to give are read on.
 */
function collect(cursors: readonly Cursor[], { matches, since, most }: Wanted): Found {
  const found = new Map<string, StoredEvent>()
  let from = since
  let visited = 0

  /** Keep the newest `most`; older ones than the last of them are not asked for any more. */
  const trim = () => {
    if (found.size < most) return
    const newest = [...found.values()].sort(byTime).slice(0, most)
    found.clear()
    for (const one of newest) found.set(one.event.id, one)
    from = Math.max(from, newest.at(-1)?.event.created_at ?? 0)
  }
  /** Take the `wanted` newest that match, and whoever shares the last one's second; false when there may be more. */
  const take = (cursor: Cursor, wanted: number, visitsMax: number): boolean => {
    const ceiling = Math.min(visited + visitsMax, limits.relayRowsVisitedMax)
    let taken = 0
    let last = 0
    for (const { event: text, created_at } of cursor.rows(from)) {
      if (visited >= ceiling || (taken >= wanted && created_at < last)) return false
      visited++
      const event = JSON.parse(text) as NostrEvent
      if (!matches(event)) continue
      found.set(event.id, { event, text })
      taken++
      last = created_at
    }
    return true
  }

  const share = cursors.length > 1 ? Math.ceil(most / cursors.length) : most
  const visits = Math.ceil(limits.relayRowsVisitedMax / Math.max(cursors.length, 1))
  const unfinished: Cursor[] = []
  for (const cursor of cursors) {
    if (!take(cursor, share, visits)) unfinished.push(cursor)
    if (found.size >= most * 2) trim()
  }
  trim()
  let cut = false
  if (cursors.length > 1) {
    for (const cursor of unfinished) {
      take(cursor, most, limits.relayRowsVisitedMax)
      trim()
    }
  }
  cut = visited >= limits.relayRowsVisitedMax
  return { events: [...found.values()].sort(byTime), visited, cut }
}

/** The statements behind the cursors: each reads one index, and nothing but its range of it. */
function prepareCursors(sql: Sqlite) {
  const rowsMax = limits.relayRowsVisitedMax + 1
  const range = `created_at BETWEEN ?1 AND ?2`
  const alive = '(expires_at IS NULL OR expires_at > ?3)'
  const newest = `ORDER BY created_at DESC, event_id LIMIT ${rowsMax}`

  /** A cursor of each value of one kind of index. */
  const prepare = <Key extends (string | number | Uint8Array)[]>(condition: string) => {
    const where = condition === '' ? '' : `${condition} AND `
    const rows = sql.query<EventRow, (string | number | Uint8Array)[]>(
      `SELECT event, created_at FROM events WHERE ${where}${range} AND ${alive} ${newest}`,
    )
    const count = sql.query<{ n: number }, (string | number | Uint8Array)[]>(
      `SELECT count(*) AS n FROM (SELECT 1 FROM events WHERE ${where}${range} LIMIT ${limits.relayProbeRows})`,
    )
    return ({ since, until, now }: Range, ...key: Key): Cursor => ({
      rows: (from) => rows.iterate(Math.max(since, from), until, now, ...key),
      probe: () => count.get(since, until, 0, ...key)?.n ?? 0,
    })
  }

  const author = prepare<[Uint8Array]>('pubkey = ?4')
  const authorKind = prepare<[Uint8Array, number]>('pubkey = ?4 AND kind = ?5')
  const address = prepare<[Uint8Array, number, string]>('pubkey = ?4 AND kind = ?5 AND d = ?6')
  const id = prepare<[Uint8Array]>('event_id = ?4')
  const tagRows = sql.query<EventRow, [number, number, number, string, string]>(
    `SELECT e.event, e.created_at FROM tags t CROSS JOIN events e ON e.id = t.id
     WHERE t.letter = ?4 AND t.value = ?5 AND t.created_at BETWEEN ?1 AND ?2
       AND (e.expires_at IS NULL OR e.expires_at > ?3)
     ORDER BY t.created_at DESC LIMIT ${rowsMax}`,
  )
  const tagCount = sql.query<{ n: number }, [number, number, string, string]>(
    `SELECT count(*) AS n FROM (SELECT 1 FROM tags
     WHERE letter = ?3 AND value = ?4 AND created_at BETWEEN ?1 AND ?2 LIMIT ${limits.relayProbeRows})`,
  )

  return {
    time: prepare<[]>(''),
    kind: prepare<[number]>('kind = ?4'),
    author: (range: Range, pubkey: string) => author(range, bytes(pubkey)),
    authorKind: (range: Range, pubkey: string, kind: number) =>
      authorKind(range, bytes(pubkey), kind),
    address: (range: Range, pubkey: string, kind: number, d: string) =>
      address(range, bytes(pubkey), kind, d),
    id: (range: Range, hex: string) => id(range, bytes(hex)),
    tag({ since, until, now }: Range, letter: string, value: string): Cursor {
      const key = indexedValue(value)
      return {
        rows: (from) => tagRows.iterate(Math.max(since, from), until, now, letter, key),
        probe: () => tagCount.get(since, until, letter, key)?.n ?? 0,
      }
    },
  }
}

/** What the index of tags knows of a value: its start; the whole is compared afterwards. */
export function indexedValue(value: string): string {
  return value.slice(0, limits.relayTagCharsMax)
}

function byTime(a: StoredEvent, b: StoredEvent): number {
  return newer(a.event, b.event) ? -1 : a.event.id === b.event.id ? 0 : 1
}

function bytes(hex: string): Uint8Array {
  return Buffer.from(hex, 'hex')
}
