import type { Database as Sqlite } from 'bun:sqlite'
import { createHash } from 'node:crypto'
import { limits } from '../base/limits.ts'

type Walk = {
  add: (problem: string) => void
  pause: (tookMs: number) => Promise<void>
  /** Ranges of a table's ids, with so many rows each. */
  slices: (table: string, rows: number) => Iterable<{ after: number; upto: number }>
}

/** Check that every picture has the bytes that its hash names. */
export async function checkPictures(sql: Sqlite, { add, pause, slices }: Walk): Promise<void> {
  type Row = { id: number; hash: Uint8Array; content: Uint8Array }
  // Values of another type are found with the pages.
  const pictures = sql.query<Row, [number, number]>(
    `SELECT id, hash, content FROM pictures
     WHERE id > ? AND id <= ? AND typeof(hash) = 'blob' AND typeof(content) = 'blob'`,
  )
  for (const { after, upto } of slices('pictures', limits.checkSlicePictures)) {
    const started = performance.now()
    for (const { id, hash, content } of pictures.all(after, upto)) {
      if (createHash('sha256').update(content).digest().equals(hash)) continue
      add(`pictures row ${id}: its bytes are not those that its hash names`)
    }
    await pause(performance.now() - started)
  }
}
