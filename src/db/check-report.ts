import { limits } from '../base/limits.ts'
import { OperatorError } from '../base/operator-error.ts'
import { tables } from './check-rules.ts'

export type CheckReport = {
  /** Problems, a sentence each, at most `checkProblemsMax`. */
  problems: string[]
  /** The number of all problems, shown or not. */
  found: number
  /** Sentences about what is in order and could not be looked at. */
  notes: string[]
  rows: Record<(typeof tables)[number], number>
  seconds: number
}

/** Throws OperatorError with the first problem of `what`, if the check found any. */
export function requireSound(what: string, { found, problems }: CheckReport): void {
  if (found === 0) return
  const more = found > 1 ? ` (and ${found - 1} more problems)` : ''
  throw new OperatorError(`${what} does not pass the check: ${problems[0]}${more}`)
}

/** Wait between two slices. `tookMs`: the time that the last slice took. */
export type Pause = (tookMs: number) => Promise<void>

/** No wait, for a command that has the database to itself. */
export const noPause: Pause = async () => undefined

/** The parts of a check that its rules share. */
export type Walk = {
  add: (problem: string) => void
  pause: Pause
  /** Ranges of a table's ids, a few thousand rows each, or so many. */
  slices: (
    table: string,
    rows?: number,
  ) => AsyncIterable<{ after: number; upto: number; size: number }>
}

/** A report while it is written. */
export function createReport() {
  const started = performance.now()
  const problems: string[] = []
  const notes: string[] = []
  let found = 0
  const rows = Object.fromEntries(tables.map((table) => [table, 0])) as CheckReport['rows']
  return {
    rows,
    note: (note: string) => void notes.push(note),
    add(problem: string) {
      found++
      if (problems.length < limits.checkProblemsMax) problems.push(problem)
    },
    end: (): CheckReport => ({
      ...{ problems, found, notes, rows },
      seconds: Math.round(performance.now() - started) / 1000,
    }),
  }
}
