import type { Sql } from './sql.ts'

type FactName = 'manager' | 'store-key' | 'card-key' | 'restored' | 'exposed' | 'moved' | 'moved-to'

export type FactStore = ReturnType<typeof createFactStore>

/** Store of the facts about the database itself. */
export function createFactStore(sql: Sql) {
  const find = sql.query<{ value: string }, [string]>('SELECT value FROM facts WHERE name = ?')
  const insert = sql.query<null, [string, string]>(
    'INSERT INTO facts (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING',
  )
  const forget = sql.query<null, [string]>('DELETE FROM facts WHERE name = ?')

  const touch = sql.query<null, [number]>(
    `UPDATE state SET newest_write = CASE WHEN newest_write < ?1 THEN ?1 ELSE newest_write END
     WHERE id = 1`,
  )

  return {
    /** Write the time (`now`, Unix seconds), to show that the disk takes a write. */
    async touch(now: number): Promise<void> {
      touch.run(now)
    },

    async find(name: FactName): Promise<string | null> {
      return (await find.get(name))?.value ?? null
    },

    /** Store a fact that never changes. A stored one stays; the result is the value that stands. */
    async pin(name: FactName, value: string): Promise<string> {
      insert.run(name, value)
      return (await find.get(name))?.value ?? value
    },

    /** Delete a fact that is over. */
    async forget(name: 'moved' | 'moved-to'): Promise<void> {
      forget.run(name)
    },
  }
}
