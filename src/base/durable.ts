import {
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { dirname, resolve } from 'node:path'

/** Wait until the content of a file is on disk (fsync). */
export function syncFile(path: string): void {
  const file = openSync(path, 'r+')
  fsyncSync(file)
  closeSync(file)
}

/**
 * Write a file again as it stands, and wait until it is on disk. If a sync of it failed before, the kernel may have called
 * its pages clean: they can be read, and a sync alone would succeed and store nothing.
 */
export function rewriteFile(path: string): void {
  const file = openSync(path, 'r+')
  try {
    rewriteOpenFile(file)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** The same without the sync. `check` sees each piece before it is written, 1 MiB but for the last, and may throw. */
export function rewriteOpenFile(file: number, check = (_piece: Uint8Array) => {}): void {
  const piece = new Uint8Array(1 << 20)
  for (let at = 0; ; ) {
    let read = 0
    for (let more = 1; more > 0 && read < piece.length; read += more) {
      more = readSync(file, piece, read, piece.length - read, at + read)
    }
    if (read === 0) return
    check(piece.subarray(0, read))
    for (let done = 0; done < read; ) {
      done += writeSync(file, piece, done, read - done, at + done)
    }
    at += read
  }
}

/** Wait until the names in a directory are on disk. Without it, a power loss may undo a rename or a new file. */
export function syncDirectory(path: string): void {
  // Windows has no such call. Its file systems keep the order of name changes themselves.
  if (process.platform === 'win32') return
  const directory = openSync(path, 'r')
  fsyncSync(directory)
  closeSync(directory)
}

/** Make a directory (0700) durably, with those above it that are missing. */
export function makeDirectory(path: string): void {
  const first = mkdirSync(path, { recursive: true, mode: 0o700 })
  if (first === undefined) return
  // Without it, a power loss may take a new directory with all that was synced in it.
  for (let made = resolve(path); ; made = dirname(made)) {
    syncDirectory(dirname(made))
    if (made === resolve(first)) return
  }
}

/** Replace a file (0600) atomically and durably. After a crash the old or the new content is there, never a part. */
export function writeDurably(path: string, text: string, unfinished = `${path}.new`): void {
  putDurably(path, { text, unfinished, put: () => renameSync(unfinished, path) })
}

/** Make a file (0600) in the same way, where there is none; false where there is one, which stays. */
export function addDurably(path: string, text: string, unfinished: string): boolean {
  let added = true
  const put = () => {
    added = link(unfinished, path)
    rmSync(unfinished, { force: true })
  }
  putDurably(path, { text, unfinished, put })
  return added
}

type Put = { text: string; unfinished: string; put: () => void }

function putDurably(path: string, { text, unfinished, put }: Put): void {
  const file = openSync(unfinished, 'w', 0o600)
  try {
    writeAll(file, text)
    ownLikeDirectory(unfinished)
    put()
  } catch (cause) {
    // It has the start of a secret, and takes room on a full disk.
    rmSync(unfinished, { force: true })
    throw cause
  }
  syncDirectory(dirname(path))
}

/** A second name for a file, or its only one; false where the name is taken. */
function link(path: string, name: string): boolean {
  try {
    linkSync(path, name)
    return true
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST' || existsSync(name)) return false
    // A memory stick with FAT has no links, and each system has another error for it. There two programs may still meet.
    renameSync(path, name)
    return true
  }
}

function writeAll(file: number, text: string): void {
  try {
    // One write may store only a part, as on a full disk.
    writeFileSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** If run as root, give a file to the owner of its directory, because the service must be able to read it. */
export function ownLikeDirectory(path: string): void {
  if (process.getuid?.() !== 0) return
  const { uid, gid } = statSync(dirname(path))
  chownSync(path, uid, gid)
}
