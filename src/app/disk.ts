import { statfs } from 'node:fs/promises'
import { limits } from '../base/limits.ts'
import type { Log } from '../base/log.ts'
import { Refusal } from '../base/refusal.ts'
import type { Jobs } from '../db/jobs.ts'

/** The part of the disk that the service leaves free, in bytes or in percent. */
export type DiskFloor = { bytes: number } | { percent: number }

type FileSystem = { bavail: number; bsize: number; blocks: number }

/** Figures of the file system of a path. The real one asks the kernel. */
export type StatFs = (path: string) => Promise<FileSystem>

type DiskParts = {
  dataDir: string
  /** Null: the smaller one of two usual floors. */
  floor: DiskFloor | null
  statFs: StatFs
  jobs: Jobs
  log: Log
}

export type Disk = {
  /** Less than the floor is free. */
  low(): boolean
  /** Refuses `disk-low` while the disk is low. */
  requireRoom(): void
  /** Bytes that the service could write; null while unknown. */
  freeBytes(): number | null
  /** Call `listener` after each change from now on. */
  onChange(listener: (low: boolean) => void): void
  /** Stop. A look under way is not waited for, because a file system that hangs would block the stop. */
  stop(): void
}

/**
 * Watch the free space of a data directory. Strangers' writes stop before the disk is full, so that claims
 * and refreshes can go on. A file system that does not answer counts as having room.
 */
export async function watchDisk({ dataDir, floor, statFs, jobs, log }: DiskParts): Promise<Disk> {
  let low = false
  let free: number | null = null
  const listeners: ((low: boolean) => void)[] = []

  const look = async () => {
    const found = await statFs(dataDir).catch(() => null)
    free = found && found.bavail * found.bsize
    const floorBytes = found && floorOf(floor, found.blocks * found.bsize)
    // More than the floor is needed to leave the low state. Else each deleted file would end it for a moment.
    const least = (floorBytes ?? 0) * (low ? limits.diskRoomAgain : 1)
    const now = free !== null && free < least
    if (now === low) return
    low = now
    for (const listener of listeners) listener(low)
    const fields = { freeBytes: free, floorBytes }
    if (low) log.warn('disk.low', fields)
    else log.info('disk.ok', fields)
  }

  await look()
  const job = jobs.start({
    async run() {
      await look()
      return undefined
    },
    everySeconds: limits.diskLookSeconds,
    failed: (cause) => log.error('disk.failed', { cause }),
  })
  return {
    low: () => low,
    requireRoom() {
      if (low) throw new Refusal('disk-low', { retryAfter: limits.diskLowRetrySeconds })
    },
    freeBytes: () => free,
    onChange: (listener) => void listeners.push(listener),
    stop: () => void job.stop(),
  }
}

/** Figures from the kernel. */
export const realStatFs: StatFs = (path) => statfs(path)

function floorOf(floor: DiskFloor | null, wholeBytes: number): number {
  if (floor === null) return Math.min(limits.diskFloorBytes, wholeBytes * limits.diskFloorShare)
  return Math.round('bytes' in floor ? floor.bytes : (wholeBytes * floor.percent) / 100)
}
