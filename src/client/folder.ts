/** A storage for Node and Bun, `cuponera/client/folder`: one file for each name. */
import { createHash, randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { systemClock } from '../base/clock.ts'
import { addDurably, makeDirectory, syncDirectory, writeDurably } from '../base/durable.ts'
import { parseStored } from './json.ts'

export type Folder = {
  get(name: string): string | null
  /** The text is on disk when it returns. */
  set(name: string, text: string): void
  /** Store a text under a name that has none; false where it has one. It is on disk when this returns. */
  add(name: string, text: string): boolean
  /** The file is gone for good when it returns. */
  delete(name: string): void
  /** Throws for a damaged file, as `get` does. */
  names(): string[]
}

/** One object for each folder: calls take turns by the object of their storage. */
const opened = new Map<string, Folder>()

/**
 * Open a folder (0700), made where it is missing, with files (0600). Programs that share it get one key for the same call.
 * Throws errors of files.
 */
export function openFolder(path: string): Folder {
  makeDirectory(resolve(path))
  const place = realpathSync.native(path)
  removeUnfinished(place)
  const folder = opened.get(place) ?? folderAt(place)
  opened.set(place, folder)
  return folder
}

/** A program that was killed leaves the start of a key or of a coupon. One that runs needs its file for a moment only. */
function removeUnfinished(folder: string): void {
  for (const file of readdirSync(folder)) {
    if (!/^[0-9a-f]{64}\.\w+\.new$/.test(file)) continue
    const path = join(folder, file)
    const stat = statSync(path, { throwIfNoEntry: false })
    const age = stat ? Math.abs(systemClock() - stat.mtimeMs / 1000) : 0
    if (age > unfinishedSeconds) rmSync(path, { force: true })
  }
}

const unfinishedSeconds = 3600

function folderAt(folder: string): Folder {
  // A name may be long, have slashes, or differ from another one by its case only.
  const fileOf = (name: string) =>
    join(folder, createHash('sha256').update(JSON.stringify(name)).digest('hex'))
  return {
    get(name) {
      const file = fileOf(name)
      const content = read(file)
      if (content === null) return null
      const kept = parseKept(content)
      if (kept?.name !== name) throw damaged(file)
      return kept.text
    },
    set(name, text) {
      const file = fileOf(name)
      writeDurably(file, contentOf(name, text), unfinishedOf(file))
    },
    add(name, text) {
      const file = fileOf(name)
      return addDurably(file, contentOf(name, text), unfinishedOf(file))
    },
    delete(name) {
      rmSync(fileOf(name), { force: true })
      syncDirectory(folder)
    },
    names() {
      const files = readdirSync(folder).filter((file) => /^[0-9a-f]{64}$/.test(file))
      return files.map((one) => {
        const file = join(folder, one)
        const kept = parseKept(read(file) ?? '')
        if (!kept || fileOf(kept.name) !== file) throw damaged(file)
        return kept.name
      })
    },
  }
}

const contentOf = (name: string, text: string) => `${JSON.stringify(name)}\n${text}`
/** Processes in two containers may have one number, so it would not tell them apart. */
const unfinishedOf = (file: string) => `${file}.${randomBytes(8).toString('hex')}.new`

function damaged(file: string): Error {
  return new Error(`${file} is damaged`)
}

function read(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw cause
  }
}

/** The first line is the name as JSON. */
function parseKept(content: string): { name: string; text: string } | null {
  const end = content.indexOf('\n')
  const name = end === -1 ? null : parseStored(content.slice(0, end))
  return typeof name === 'string' ? { name, text: content.slice(end + 1) } : null
}
