import type { Sql } from '../../src/db/sql.ts'
import type { Notes } from './port.ts'

/** Notes in a table of their own, with a name and a value. */
export function createNotes(sql: Sql): Notes {
  const put = sql.query<null, [string, string]>(
    `INSERT INTO notes (name, value) VALUES (?, ?)
     ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
  )
  const insert = sql.query<null, [string, string]>('INSERT INTO notes (name, value) VALUES (?, ?)')
  const find = sql.query<{ value: string }, [string]>('SELECT value FROM notes WHERE name = ?')
  const count = sql.query<{ n: number }, []>('SELECT count(*) AS n FROM notes')
  return {
    async put(name, value) {
      put.run(name, value)
    },
    async insert(name, value) {
      insert.run(name, value)
    },
    async find(name) {
      return (await find.get(name))?.value ?? null
    },
    async count() {
      return (await count.get())?.n ?? 0
    },
  }
}
