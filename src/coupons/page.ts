import { limits } from '../base/limits.ts'
import { Refusal } from '../base/refusal.ts'

export type AskedPage = { limit?: string | undefined; cursor?: string | undefined }
export type Page = { limit: number; before: number | null }

/** `limit` 1..500, 100 when absent; `cursor` as an earlier answer gave it. */
export function parsePage({ limit, cursor }: AskedPage): Page {
  const count = limit === undefined ? limits.pageDefault : parseCount(limit)
  if (count === null || count < 1 || count > limits.pageMax) throw new Refusal('page-invalid')
  return { limit: count, before: cursor === undefined ? null : parseCursor(cursor) }
}

/** The row that a cursor names. Refuses `page-invalid`. */
export function parseCursor(cursor: string): number {
  const before = parseCount(Buffer.from(cursor, 'base64url').toString('latin1'))
  if (before === null || cursorOf(before) !== cursor) throw new Refusal('page-invalid')
  return before
}

function parseCount(text: string): number | null {
  return /^\d{1,15}$/.test(text) ? Number(text) : null
}

/** The store was asked for one row more than the page holds: it tells whether there is a next. */
export function cut<Row extends { rowId: number }>(rows: Row[], page: Page) {
  const shown = rows.slice(0, page.limit)
  const last = shown.at(-1)
  return { shown, next: last && rows.length > page.limit ? cursorOf(last.rowId) : null }
}

export function cursorOf(rowId: number): string {
  return Buffer.from(String(rowId), 'latin1').toString('base64url')
}
