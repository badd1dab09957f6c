import { chownSync, closeSync, fsyncSync, openSync, renameSync, statSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'

/** Wait until what was written to a file is on the disk. */
export function syncFile(path: string): void {
  const file = openSync(path, 'r+')
  fsyncSync(file)
  closeSync(file)
}

/** Wait until what was created, renamed or removed in a directory is on the disk. */
export function syncDirectory(path: string): void {
  // Windows has no such call: its file systems keep the order of names by themselves.
  if (process.platform === 'win32') return
  const directory = openSync(path, 'r')
  fsyncSync(directory)
  closeSync(directory)
}

/** Write a file (0600) in one step: whoever looks finds the old one or the new one, whole and on disk. */
export function writeDurably(path: string, text: string, unfinished = `${path}.new`): void {
  const file = openSync(unfinished, 'w', 0o600)
  writeSync(file, text)
  fsyncSync(file)
  closeSync(file)
  ownLikeDirectory(unfinished)
  renameSync(unfinished, path)
  syncDirectory(dirname(path))
}

/** As root, hand a file to the owner of its directory: the service must be able to read it. */
export function ownLikeDirectory(path: string): void {
  if (process.getuid?.() !== 0) return
  const { uid, gid } = statSync(dirname(path))
  chownSync(path, uid, gid)
}
