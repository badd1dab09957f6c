import { SQLiteError, type Database as Sqlite } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import { openForReading } from '../../inspect.ts'
import type { Connection } from '../connection.ts'
import type { moveFacts } from './tables.ts'

/**
 * Facts of one side. `moved` (Unix seconds) closes it. The other side has the same number: as `arriving` while
 * it is whole but not open yet, as `arrived` from then on. So a move that was interrupted finds its other half.
 */
type Name = (typeof moveFacts)[number] | 'manager' | 'store-key' | 'card-key'
export type MoveFacts = Partial<Record<Name, string>>

type Row = { name: string; value: string }

export function factsOfFile(file: Sqlite): MoveFacts {
  return named(file.query<Row, []>('SELECT name, value FROM facts').all())
}

/** Facts of the file at a path. Null where there is none, or one that was not written to its end. */
export function factsAt(path: string): MoveFacts | null {
  if (!existsSync(path)) return null
  let file: Sqlite | null = null
  try {
    file = openForReading(path)
    return factsOfFile(file)
  } catch (cause) {
    if (!(cause instanceof SQLiteError)) throw cause
    return null
  } finally {
    file?.close()
  }
}

export async function factsOfServer(connection: Connection): Promise<MoveFacts> {
  const { rows } = await connection.send('SELECT name, value FROM facts', [])
  return named(rows as Row[])
}

function named(rows: Row[]): MoveFacts {
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]))
}
