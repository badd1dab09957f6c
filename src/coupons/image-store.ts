import { createHash } from 'node:crypto'
import { bytesOf } from '../base/bytes.ts'
import type { Sql } from '../db/sql.ts'

export type ImageStore = ReturnType<typeof createImageStore>

/** Store of the image URLs that revisions name, by the sha256 of the URL. */
export function createImageStore(sql: Sql) {
  const insert = sql.query<null, [Uint8Array, string]>(
    'INSERT INTO images (hash, url) VALUES (?, ?) ON CONFLICT (hash) DO NOTHING',
  )
  // The first merchant that named the URL pays for the fetch: a fetch has slots per merchant.
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
    /** Add the URL that a new revision names. */
    add(url: string | null): void {
      if (url !== null) insert.run(imageHash(url), url)
    },

    /** Delete a URL, unless another revision still names it. */
    drop(url: string | null): void {
      if (url !== null) remove.run(imageHash(url), url)
    },

    /** The URL of a hash (hex), and the first merchant that named it (hex). Null if no revision names it. */
    async find(hash: string): Promise<{ url: string; owner: string } | null> {
      const found = await find.get(bytesOf(hash))
      return found && { url: found.url, owner: found.owner?.toHex() ?? '' }
    },
  }
}

/** Name of an image: the sha256 of its URL. */
function imageHash(url: string): Uint8Array {
  return createHash('sha256').update(url).digest()
}
