import { limits } from '../base/limits.ts'
import { Refusal } from '../base/refusal.ts'
import type { Database } from '../db/database.ts'
import { isPictureHash } from './address.ts'
import type { Picture } from './picture-store.ts'
import type { PictureStores } from './service.ts'

/**
 * Create the search for a picture by its hash. Shown ones stay in memory, up to `picturesCachedBytesMax`, because
 * the visitors of a shop ask for the same few. The search refuses `picture-unknown`.
 */
export function createPictureFinder(database: Database<Pick<PictureStores, 'pictures'>>) {
  // A Map keeps the order of insertion: the least recently used picture is the first one.
  const cached = new Map<string, Picture>()
  let total = 0

  const remember = (hash: string, picture: Picture) => {
    if (!cached.delete(hash)) total += picture.bytes.length
    cached.set(hash, picture)
    for (const [oldest, { bytes }] of cached) {
      if (total <= limits.picturesCachedBytesMax) return
      cached.delete(oldest)
      total -= bytes.length
    }
  }

  return async (hash: string): Promise<Picture> => {
    const known = cached.get(hash)
    const picture = known ?? (await findStored(hash))
    if (!picture) throw new Refusal('picture-unknown')
    remember(hash, picture)
    return picture
  }

  async function findStored(hash: string): Promise<Picture | null> {
    return isPictureHash(hash) ? database.snapshot((tx) => tx.pictures.find(hash)) : null
  }
}
