import { createHash } from 'node:crypto'
import { bytesOf } from '../base/bytes.ts'
import type { Sql } from '../db/sql.ts'

export type ImageStore = ReturnType<typeof createImageStore>

/** The addresses of images that revisions name, found by their hash; on one connection. */
export function createImageStore(sql: Sql) {
  const insert = sql.query<null, [Uint8Array, string]>(
    'INSERT INTO images (hash, url) VALUES (?, ?) ON CONFLICT (hash) DO NOTHING',
  )
  const find = sql.query<{ url: string; owner: Uint8Array | null }, [Uint8Array]>(
    `SELECT url, (SELECT definitions.owner FROM revisions
        JOIN definitions ON definitions.id = revisions.definition_id
        WHERE revisions.image = images.url ORDER BY revisions.id LIMIT 1) AS owner
      FROM images WHERE hash = ?`,
  )
  const remove = sql.query<null, [Uint8Array, string]>(
    'DELETE FROM images WHERE hash = ? AND NOT EXISTS (SELECT 1 FROM revisions WHERE image = ?)',
  )

  return {
    /** A revision names this image from now on. */
    add(url: string | null): void {
      if (url !== null) insert.run(imageHash(url), url)
    },

    /** A revision names it no more: forget it when it was the last one. */
    drop(url: string | null): void {
      if (url !== null) remove.run(imageHash(url), url)
    },

    /** The address behind a hash, and who was the first to name it; null when no revision does. Hex. */
    async find(hash: string): Promise<{ url: string; owner: string } | null> {
      const found = await find.get(bytesOf(hash))
      return found && { url: found.url, owner: found.owner?.toHex() ?? '' }
    },
  }
}

/** What an image goes by: sha256 of its address. */
function imageHash(url: string): Uint8Array {
  return createHash('sha256').update(url).digest()
}
