import { readFileSync, writeFileSync } from 'node:fs'

/** Resident memory of a process in MB: now, and at its peak; NaN where there is no /proc. */
export function residentMb(pid: number): { now: number; peak: number } {
  const text = readOrEmpty(`/proc/${pid}/status`)
  const read = (name: string) =>
    Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(text)?.[1] ?? Number.NaN) / 1024
  return { now: read('VmRSS'), peak: read('VmHWM') }
}

/** Begin the peak of a process's resident memory anew; false where the system does not let us. */
export function forgetPeak(pid: number): boolean {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, '5')
    return true
  } catch {
    return false
  }
}

/** User and system time of a process with all its threads; 0 where there is no /proc. */
export function cpuSeconds(pid: number): number {
  const fields = readOrEmpty(`/proc/${pid}/stat`).split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) / 100
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return ''
    throw cause
  }
}
