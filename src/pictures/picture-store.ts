import { bytesOf, hexOf } from '../base/bytes.ts'
import { limits } from '../base/limits.ts'
import type { Sql } from '../db/sql.ts'
import type { PictureType } from './strip.ts'

/** The bytes of a picture. */
export type Picture = { type: PictureType; bytes: Uint8Array<ArrayBuffer> }

/** Pictures in use or new, and all that are kept: those of vouchers and coupons that are over, too. */
type Usage = { pictures: number; bytes: number; kept: number; keptBytes: number }

export type PictureStore = ReturnType<typeof createPictureStore>

/** Store of uploaded pictures. Each owner has its own copy, so that the end of one takes nothing from another. */
export function createPictureStore(sql: Sql) {
  const [issued, claimed, voided] = ['issued', 'claimed', 'voided'].map((name) =>
    sql.counters.number('definitions', name, 'd'),
  )
  const find = sql.query<{ type: PictureType; content: Uint8Array<ArrayBuffer> }, [Uint8Array]>(
    'SELECT type, content FROM pictures WHERE hash = ? LIMIT 1',
  )
  const findSize = sql.query<{ type: PictureType; bytes: number }, [Uint8Array, Uint8Array]>(
    'SELECT type, bytes FROM pictures WHERE owner = ? AND hash = ?',
  )
  // In use: on offer, in an open voucher, or in the shop. Each revision takes a look-up, and the inner LIMIT bounds
  // their number: its merchant chooses it.
  const usage = sql.query<
    { pictures: number; bytes: number; kept: number; kept_bytes: number },
    [Uint8Array, number, number]
  >(
    `WITH revised AS (
       SELECT r.picture, r.expires_at, d.id AS definition_id,
         CASE WHEN r.id = d.revision_id AND d.archived_at IS NULL THEN 1 ELSE 0 END AS offered,
         ${issued} - ${claimed} - ${voided} AS open
       FROM definitions d JOIN revisions r ON r.definition_id = d.id
       WHERE d.owner = ?1 ORDER BY d.id DESC, r.id DESC LIMIT ?3),
     used (picture) AS (
       SELECT x.picture FROM revised x
       WHERE x.picture IS NOT NULL AND (x.expires_at IS NULL OR x.expires_at > ?2)
         AND (x.offered = 1 OR (x.expires_at IS NULL AND x.open > 0)
           OR 0 < (SELECT CAST(coalesce(sum(expiries.open), 0) AS BIGINT)
             FROM ${sql.counters.rows('expiries')}
             WHERE expiries.definition_id = x.definition_id
               AND expiries.expires_at = x.expires_at))
       UNION SELECT s.picture FROM shops s WHERE s.owner = ?1)
     SELECT count(*) FILTER (WHERE counts = 1) AS pictures,
       CAST(coalesce(sum(bytes) FILTER (WHERE counts = 1), 0) AS BIGINT) AS bytes,
       count(*) AS kept, CAST(coalesce(sum(bytes), 0) AS BIGINT) AS kept_bytes
     FROM (SELECT p.bytes,
         CASE WHEN p.unused_at IS NOT NULL OR p.hash IN (SELECT picture FROM used) THEN 1 ELSE 0
         END AS counts
       FROM pictures p WHERE p.owner = ?1) AS owned`,
  )
  const insert = sql.query<null, [Uint8Array, Uint8Array, string, number, Uint8Array, number]>(
    `INSERT INTO pictures (owner, hash, type, bytes, content, unused_at) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (owner, hash) DO NOTHING`,
  )
  const keep = sql.query<null, [number, Uint8Array, Uint8Array]>(
    `UPDATE pictures SET unused_at = ?
     WHERE owner = ? AND hash = ? AND unused_at IS NOT NULL`,
  )
  // By definition, of which an owner has a thousand at most: anybody may name the same picture any number of times.
  const settle = sql.query<null, [number, Uint8Array, Uint8Array]>(
    `UPDATE pictures SET unused_at = CASE
       WHEN EXISTS (SELECT 1 FROM definitions d WHERE d.owner = ?2 AND EXISTS (
         SELECT 1 FROM revisions r WHERE r.picture = ?3 AND r.definition_id = d.id)) THEN NULL
       WHEN EXISTS (SELECT 1 FROM shops s WHERE s.owner = ?2 AND s.picture = ?3) THEN NULL
       ELSE CAST(?1 AS BIGINT) END
     WHERE owner = ?2 AND hash = ?3`,
  )
  const unused = sql.query<{ id: number; owner: Uint8Array }, [number, number]>(
    'SELECT id, owner FROM pictures WHERE unused_at < ? ORDER BY unused_at LIMIT ?',
  )
  const remove = sql.query<null, [number, string]>(
    `DELETE FROM pictures WHERE unused_at < ? AND id IN ${sql.integersIn('?')}`,
  )

  return {
    /** The picture of a hash (hex), whoever uploaded it. */
    async find(hash: string): Promise<Picture | null> {
      const row = await find.get(bytesOf(hash))
      return row && { type: row.type, bytes: row.content }
    },

    /** Type and length of a picture that an owner uploaded. */
    async findOf(
      owner: string,
      hash: string,
    ): Promise<{ type: PictureType; bytes: number } | null> {
      return await findSize.get(bytesOf(owner), bytesOf(hash))
    },

    /** Number and bytes of the pictures of an owner at `now`. */
    async usage(owner: string, now: number): Promise<Usage> {
      const row = await usage.get(bytesOf(owner), now, limits.pictureRevisionsMax)
      const { pictures = 0, bytes = 0, kept = 0, kept_bytes: keptBytes = 0 } = row ?? {}
      return { pictures, bytes, kept, keptBytes }
    },

    /** Store a picture that nothing uses yet. */
    async insert(owner: string, hash: string, picture: Picture, at: number): Promise<void> {
      const { type, bytes } = picture
      insert.run(bytesOf(owner), bytesOf(hash), type, bytes.length, bytes, at)
    },

    /** A picture that nothing uses is kept from `at` on, as if it was uploaded then. */
    async keep(owner: string, hash: string, at: number): Promise<void> {
      keep.run(at, bytesOf(owner), bytesOf(hash))
    },

    /** Note whether a coupon or shop of its owner uses a picture, after a change of one. Unused from `at` on if not. */
    async settle(owner: string, hash: string, at: number): Promise<void> {
      settle.run(at, bytesOf(owner), bytesOf(hash))
    },

    /** Up to `rowsMax` pictures that have been unused since before a time, with their owners (hex). */
    async unused(rowsMax: number, before: number): Promise<{ id: number; owner: string }[]> {
      const rows = await unused.all(before, rowsMax)
      return rows.map(({ id, owner }) => ({ id, owner: hexOf(owner) }))
    },

    /** Delete those of these pictures that have been unused since before a time. Returns their number. */
    async prune(ids: readonly number[], before: number): Promise<number> {
      return await remove.changes(before, JSON.stringify(ids))
    },
  }
}
