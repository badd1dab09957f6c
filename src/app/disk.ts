import { statfs } from 'node:fs/promises'
import { limits } from '../base/limits.ts'
import type { Log } from '../base/log.ts'
import { Refusal } from '../base/refusal.ts'

/** How much of its disk the service leaves free: so many bytes, or a part of the whole. */
export type DiskFloor = { bytes: number } | { percent: number }

type FileSystem = { bavail: number; bsize: number; blocks: number }

/** Facts of the file system of a path; the real one asks the kernel. */
export type StatFs = (path: string) => Promise<FileSystem>

type DiskParts = {
  dataDir: string
  /** Null: whichever is less of two usual floors. */
  floor: DiskFloor | null
  statFs: StatFs
  log: Log
}

export type Disk = {
  /** Less than the floor is free. */
  low(): boolean
  /** Refuses `disk-low` while that is so. */
  requireRoom(): void
  /** Bytes that the service could write; null while nobody knows. */
  freeBytes(): number | null
  /** Told of each change from now on. */
  onChange(listener: (low: boolean) => void): void
  stop(): void
}

/**
 * Watch the free space of a data directory. Strangers' writes stop before the disk is full, so that claims
 * and refreshes can go on. A file system that does not answer counts as having room.
 */
export async function watchDisk({ dataDir, floor, statFs, log }: DiskParts): Promise<Disk> {
  let low = false
  let free: number | null = null
  let looking = false
  const listeners: ((low: boolean) => void)[] = []

  const look = async () => {
    if (looking) return
    looking = true
    const found = await statFs(dataDir).catch(() => null)
    looking = false
    free = found && found.bavail * found.bsize
    const floorBytes = found && floorOf(floor, found.blocks * found.bsize)
    // A little more than the floor: else each file that is deleted would open the door for a moment.
    const least = (floorBytes ?? 0) * (low ? limits.diskRoomAgain : 1)
    const now = free !== null && free < least
    if (now === low) return
    low = now
    for (const listener of listeners) listener(low)
    const facts = { freeBytes: free, floorBytes }
    if (low) log.warn('disk.low', facts)
    else log.info('disk.ok', facts)
  }

  await look()
  const timer = setInterval(() => void look(), limits.diskLookSeconds * 1000)
  return {
    low: () => low,
    requireRoom() {
      if (low) throw new Refusal('disk-low', { retryAfter: limits.diskLowRetrySeconds })
    },
    freeBytes: () => free,
    onChange: (listener) => void listeners.push(listener),
    stop: () => clearInterval(timer),
  }
}

/** The kernel's answer. */
export const realStatFs: StatFs = (path) => statfs(path)

function floorOf(floor: DiskFloor | null, wholeBytes: number): number {
  if (floor === null) return Math.min(limits.diskFloorBytes, wholeBytes * limits.diskFloorShare)
  return Math.round('bytes' in floor ? floor.bytes : (wholeBytes * floor.percent) / 100)
}
