import type { Database as Sqlite } from 'bun:sqlite'

export type FactStore = ReturnType<typeof createFactStore>

/** Facts about the file itself; on one connection. */
export function createFactStore(sql: Sqlite) {
  const find = sql.query<{ value: string }, [string]>('SELECT value FROM facts WHERE name = ?')
  const insert = sql.query<null, [string, string]>(
    'INSERT INTO facts (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING',
  )

  return {
    /** Write a fact down unless one of that name stands; the one that stands. */
    async pin(name: 'manager' | 'store-key', value: string): Promise<string> {
      insert.run(name, value)
      return find.get(name)?.value ?? value
    },
  }
}
