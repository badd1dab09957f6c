import { closeSync, fdatasyncSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { cpus, loadavg, totalmem } from 'node:os'
import { join } from 'node:path'

/** Names of file systems by their magic number (statfs(2)). */
const fileSystems: Record<number, string> = {
  61267: 'ext4',
  16914836: 'tmpfs (memory: a sync costs nothing here)',
  1481003842: 'xfs',
  2435016766: 'btrfs',
  2035054128: 'overlay',
  801189825: 'zfs',
}

/** The conditions that figures depend on besides the program. */
export function describeMachine(directory: string) {
  const { type } = statfsSync(directory)
  return {
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memoryMb: Math.round(totalmem() / 2 ** 20),
    bun: Bun.version,
    fileSystem: fileSystems[type] ?? `0x${type.toString(16)}`,
    syncMs: syncMs(directory),
    load: loadavg()[0] ?? 0,
  }
}

/** How long a small write takes to the disk: what one connection waits for. Median of fifty. */
function syncMs(directory: string): number {
  const path = join(directory, 'sync-probe')
  const file = openSync(path, 'w')
  const page = new Uint8Array(4096)
  const times = Array.from({ length: 50 }, (_, at) => {
    const started = performance.now()
    writeSync(file, page, 0, page.length, at * page.length)
    fdatasyncSync(file)
    return performance.now() - started
  })
  closeSync(file)
  rmSync(path)
  return median(times)
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}

/**
 * The bounds of a 95 % confidence interval of the median, by the order of the values alone: how many of them are below a
 * median is a binomial. Null for fewer than six values.
 */
export function medianBounds(values: readonly number[]): [number, number] | null {
  const sorted = values.toSorted((a, b) => a - b)
  const { length } = sorted
  let place = 0
  let chance = 0.5 ** length
  for (let outside = chance; outside <= 0.025; outside += chance) {
    place++
    chance *= (length - place + 1) / place
  }
  const [least, most] = [sorted[place - 1], sorted[length - place]]
  return least === undefined || most === undefined ? null : [least, most]
}
