import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** A libsecp256k1 that is shipped with this program. */
type CarriedLibrary = { path: string; origin: string }

/**
 * The library that `.tools/native.mjs` fetched, or null. In a compiled binary, `.tools/build.ts` replaces this
 * module by one that embeds the library of the target.
 */
export function findCarriedLibrary(): CarriedLibrary | null {
  const platform = `${process.platform}-${process.arch}`
  const path = join(import.meta.dir, '../../.native', platform, 'libsecp256k1.so')
  return existsSync(path) ? { path, origin: `.native/${platform}` } : null
}
