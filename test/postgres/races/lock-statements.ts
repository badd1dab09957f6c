/** Statements that only lock: a control leaves them out. */
import type { Result } from '../../../src/db/postgres/connection.ts'

export const onlyLocks = (text: string) => /pg_advisory_xact_lock|FOR NO KEY UPDATE/.test(text)

/** The result in place of theirs. */
export const nothing: Result = { rows: [], count: 0, command: 'SELECT' }
