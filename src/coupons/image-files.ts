import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type ImageKind, imageKindOf } from './image-type.ts'

/** A picture file on disk. */
export type StoredImage = { path: string; kind: ImageKind }

/** A cache of picture files, bounded in bytes. */
export type ImageFiles = {
  /** Find the picture of a hash, and mark it as used. Null if there is none. */
  find(hash: string): StoredImage | null
  /** Store a picture, and delete the least recently used ones above `bytesMax`. */
  put(hash: string, kind: ImageKind, bytes: Uint8Array): Promise<StoredImage>
}

type Entry = StoredImage & { bytes: number }

/**
 * Open a cache of pictures in its own directory, with at most `bytesMax` bytes in all. The files may be
 * deleted at any time, also by hand.
 */
export function openImageFiles(directory: string, bytesMax: number): ImageFiles {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  // A Map keeps the order of insertion: the least recently used picture is the first one.
  const entries = new Map<string, Entry>()
  let total = 0

  const found = readdirSync(directory).flatMap((name) => {
    const path = join(directory, name)
    const kind = imageKindOf(name)
    const hash = /^[0-9a-f]{64}(?=\.)/.exec(name)?.[0]
    if (kind && hash) return [{ hash, path, kind, ...sizeOf(path) }]
    // Unfinished file of a process that was killed while it wrote.
    if (name.endsWith('.new')) rmSync(path, { force: true })
    return []
  })
  for (const { hash, path, kind, bytes } of found.sort((a, b) => a.written - b.written)) {
    entries.set(hash, { path, kind, bytes })
    total += bytes
  }

  const forget = (hash: string, { bytes }: Entry) => {
    entries.delete(hash)
    total -= bytes
  }

  return {
    find(hash) {
      const entry = entries.get(hash)
      if (!entry) return null
      entries.delete(hash)
      if (!existsSync(entry.path)) {
        total -= entry.bytes
        return null
      }
      entries.set(hash, entry)
      return entry
    },

    async put(hash, kind, bytes) {
      const path = join(directory, `${hash}.${kind.ending}`)
      // Written under another name and renamed, so that a crash never leaves half a picture under its hash.
      const unfinished = `${path}.new`
      mkdirSync(directory, { recursive: true, mode: 0o700 })
      try {
        await write(unfinished, bytes)
        await rename(unfinished, path)
      } catch (cause) {
        // On a full disk the unfinished file would take the last room.
        await rm(unfinished, { force: true })
        throw cause
      }
      const before = entries.get(hash)
      if (before) forget(hash, before)
      entries.set(hash, { path, kind, bytes: bytes.length })
      total += bytes.length
      for (const [oldest, entry] of entries) {
        if (total <= bytesMax || oldest === hash) break
        forget(oldest, entry)
        await rm(entry.path, { force: true })
      }
      return { path, kind }
    },
  }
}

async function write(path: string, bytes: Uint8Array): Promise<void> {
  const file = await open(path, 'w', 0o600)
  try {
    await file.writeFile(bytes)
    await file.sync()
  } finally {
    await file.close()
  }
}

function sizeOf(path: string) {
  const { size, mtimeMs } = statSync(path)
  return { bytes: size, written: mtimeMs }
}
