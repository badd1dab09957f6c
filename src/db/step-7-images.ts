import type { Database as Sqlite } from 'bun:sqlite'
import { imageHash } from '../coupons/image-store.ts'
import images from './step-7-images.sql' with { type: 'text' }

/** SQLite cannot hash: the addresses that revisions name so far are entered here. */
export function addImages(connection: Sqlite): void {
  connection.run(images)
  const insert = connection.query('INSERT INTO images (hash, url) VALUES (?, ?)')
  const named = connection.query<{ image: string }, []>(
    'SELECT DISTINCT image FROM revisions WHERE image IS NOT NULL',
  )
  for (const { image } of named.all()) insert.run(imageHash(image), image)
}
