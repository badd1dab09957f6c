import { readFileSync } from 'node:fs'

/** Milliseconds that a process has computed, all its threads together; the kernel counts in tens. */
export function cpuMilliseconds(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}
