import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** A libsecp256k1 that came with this program. */
type CarriedLibrary = { path: string; origin: string }

/**
 * From source: what `.tools/native.mjs` fetched, or null. In a compiled binary this module is replaced by
 * one that imports the target's library as an embedded file (see .tools/build.ts).
 */
export function findCarriedLibrary(): CarriedLibrary | null {
  const platform = `${process.platform}-${process.arch}`
  const path = join(import.meta.dir, '../../.native', platform, 'libsecp256k1.so')
  return existsSync(path) ? { path, origin: `.native/${platform}` } : null
}
