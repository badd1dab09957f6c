import type { Static } from '@sinclair/typebox'
import { limits } from '../base/limits.ts'
import { Refusal } from '../base/refusal.ts'
import type { PageModel } from './list-models.ts'

/** A page as a client asks for it. */
export type AskedPage = Static<typeof PageModel>
/** A page for a store: up to `limit` rows with a row id below `before`, or from the newest on. */
export type Page = { limit: number; before: number | null }

/** Read the page that a client asks for: `limit` 1 to 500, 100 if absent, and a `cursor`. Refuses `page-invalid`. */
export function parsePage({ limit, cursor }: AskedPage): Page {
  const count = limit === undefined ? limits.pageDefault : parseCount(limit)
  if (count === null || count < 1 || count > limits.pageMax) throw new Refusal('page-invalid')
  return { limit: count, before: cursor === undefined ? null : parseCursor(cursor) }
}

/** The row id in a cursor. Refuses `page-invalid`. */
export function parseCursor(cursor: string): number {
  const before = parseCount(Buffer.from(cursor, 'base64url').toString('latin1'))
  // base64url has several texts for the same bytes. Only the one that we gave is valid.
  if (before === null || cursorOf(before) !== cursor) throw new Refusal('page-invalid')
  return before
}

function parseCount(text: string): number | null {
  return /^\d{1,15}$/.test(text) ? Number(text) : null
}

/** The rows of one page, and the cursor of the next one. The store reads one row more, to know if there is a next. */
export function cutPage<Row extends { rowId: number }>(rows: Row[], page: Page) {
  const shown = rows.slice(0, page.limit)
  const last = shown.at(-1)
  return { shown, next: last && rows.length > page.limit ? cursorOf(last.rowId) : null }
}

/** The cursor of the page after a row. Clients must not interpret it. */
export function cursorOf(rowId: number): string {
  return Buffer.from(String(rowId), 'latin1').toString('base64url')
}
