import type { Database as Sqlite } from 'bun:sqlite'

type FactName = 'manager' | 'store-key'

/** Facts about the file itself; on one connection. */
export function createFactStore(sql: Sqlite) {
  const find = sql.query<{ value: string }, [string]>('SELECT value FROM facts WHERE name = ?')
  const insert = sql.query<null, [string, string]>(
    'INSERT INTO facts (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING',
  )

  return {
    async find(name: FactName): Promise<string | null> {
      return find.get(name)?.value ?? null
    },

    /** Write a fact down for ever; one that stands already stays. */
    async pin(name: FactName, value: string): Promise<void> {
      insert.run(name, value)
    },
  }
}
