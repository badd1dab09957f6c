import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type ImageKind, imageKindOf } from './image-type.ts'

/** A picture on the disk. */
export type StoredImage = { path: string; kind: ImageKind }

export type ImageFiles = {
  /** The picture of a hash, which counts as used; null when it is not here. */
  find(hash: string): StoredImage | null
  /** Keep a picture; those used longest ago go when it gets too much. */
  put(hash: string, kind: ImageKind, bytes: Uint8Array): Promise<StoredImage>
}

type Entry = StoredImage & { bytes: number }

/** Pictures in a directory of their own, never more than `bytesMax`. They can be deleted at any time. */
export function openImageFiles(directory: string, bytesMax: number): ImageFiles {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  // In the order of their use: the first one goes first.
  const entries = new Map<string, Entry>()
  let total = 0

  const found = readdirSync(directory).flatMap((name) => {
    const path = join(directory, name)
    const kind = imageKindOf(name)
    const hash = /^[0-9a-f]{64}(?=\.)/.exec(name)?.[0]
    if (kind && hash) return [{ hash, path, kind, ...sizeOf(path) }]
    // Left by a process that was killed while it wrote.
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
      const unfinished = `${path}.new`
      mkdirSync(directory, { recursive: true, mode: 0o700 })
      try {
        await write(unfinished, bytes)
        await rename(unfinished, path)
      } catch (cause) {
        // On a full disk half a picture would only take more of what is left.
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
