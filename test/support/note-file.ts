import { Database as Sqlite } from 'bun:sqlite'

/** The value of a note that another connection sees: also what is not on disk. Null if there is none. */
export function peekAtNote(path: string, name: string): string | null {
  using other = new Sqlite(path, { readonly: true })
  const row = other.query<{ value: string }, [string]>('SELECT value FROM notes WHERE name = ?')
  return row.get(name)?.value ?? null
}

/** Closes an engine once: a test may do it before the clean-up does. */
export function closeOnce(engine: { close(): Promise<void> }): () => Promise<void> {
  let closed = false
  return async () => {
    if (closed) return
    closed = true
    await engine.close()
  }
}
