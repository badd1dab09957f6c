import { createHash } from 'node:crypto'
import { limits } from '../base/limits.ts'
import type { Walk } from './check-report.ts'
import type { Sql } from './sql.ts'

/** Check that every picture has the bytes that its hash names. */
export async function checkPictures(sql: Sql, { add, pause, slices }: Walk): Promise<void> {
  type Row = { id: number; hash: Uint8Array; content: Uint8Array }
  const pictures = sql.query<Row, [number, number]>(
    'SELECT id, hash, content FROM pictures WHERE id > ? AND id <= ?',
  )
  for await (const { after, upto } of slices('pictures', limits.checkSlicePictures)) {
    const started = performance.now()
    for (const { id, hash, content } of await pictures.all(after, upto)) {
      // Values of another type are found with the pages.
      if (!(hash instanceof Uint8Array && content instanceof Uint8Array)) continue
      if (createHash('sha256').update(content).digest().equals(hash)) continue
      add(`pictures row ${id}: its bytes are not those that its hash names`)
    }
    await pause(performance.now() - started)
  }
}
