import { Query } from 'pg'
import type { SqlValue } from '../sql.ts'

type Row = Record<string, unknown>
type Column = { name: string; parse: (text: string) => unknown }
type Answer = { rows: Row[]; count: number; command: string }

/** A text that the server keeps under a name, once an execution has shown that it does. */
export class Prepared {
  readonly text: string
  name: string
  state: 'unknown' | 'sent' | 'known' = 'unknown'
  /** Those of its rows, which never change, once the server has told them. */
  columns: Column[] | null = null

  constructor(text: string, name: string) {
    this.text = text
    this.name = name
  }
}

export type Asked = {
  statement: Prepared
  values: readonly SqlValue[]
  resolve: (answer: Answer) => void
  reject: (cause: unknown) => void
}

/** The part of a connection that a turn needs. */
type Around = {
  parserOf: (oid: number) => (text: string) => unknown
  newName: () => string
  /** The failure of the statements behind one that failed. */
  skipped: (cause: Error) => Error
  /** Told of each statement that the server answers before the end of the turn. */
  answered: () => void
}

/** The messages of a connection of the client. */
type Wire = {
  stream: { cork(): void; uncork(): void }
  parse(message: { name: string; text: string }): void
  bind(message: { statement: string; values: readonly unknown[] }): void
  describe(message: { type: 'P' }): void
  execute(message: object): void
  sync(): void
}

/**
 * Statements of a transaction that are sent together, with one Sync behind them: both sides read and write once, not for
 * each statement. The server skips those behind one that fails. Outside of a transaction they would become one, so it is
 * no use there.
 */
export class Turn extends Query {
  readonly #asked: readonly Asked[]
  readonly #around: Around
  /** Whether this turn gives its name to the statement at that place. */
  readonly #names: boolean[] = []
  readonly #answers: Answer[] = []
  #rows: Row[] = []
  /** Values that cannot be read, by the place of their statement. */
  readonly #unread = new Map<number, unknown>()

  constructor(asked: readonly Asked[], around: Around) {
    super('')
    this.#asked = asked
    this.#around = around
  }

  override submit = (connection: unknown): void => {
    const wire = connection as Wire
    wire.stream.cork()
    try {
      for (const asked of this.#asked) this.#write(asked, wire)
      wire.sync()
    } finally {
      wire.stream.uncork()
    }
  }

  #write({ statement, values }: Asked, wire: Wire): void {
    const { text, state } = statement
    const names = state === 'unknown'
    // Another turn may fail before the server has parsed it: until that is known, it goes without a name.
    const name = state === 'sent' ? '' : statement.name
    if (state !== 'known') wire.parse({ name, text })
    if (names) statement.state = 'sent'
    this.#names.push(names)
    wire.bind({ statement: name, values: values.map(written) })
    if (statement.columns === null) wire.describe({ type: 'P' })
    wire.execute({})
  }

  handleRowDescription({ fields }: { fields: { name: string; dataTypeID: number }[] }): void {
    const { parserOf } = this.#around
    this.#current.statement.columns = fields.map(({ name, dataTypeID }) => ({
      name,
      parse: parserOf(dataTypeID),
    }))
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    const row: Row = {}
    try {
      for (const [at, { name, parse }] of (this.#current.statement.columns ?? []).entries()) {
        const text = fields[at] ?? null
        row[name] = text === null ? null : parse(text)
      }
      this.#rows.push(row)
    } catch (cause) {
      this.#unread.set(this.#answers.length, cause)
    }
  }

  handleCommandComplete({ text }: { text: string }): void {
    const { statement } = this.#current
    // Without a description it has no rows.
    statement.columns ??= []
    if (this.#names[this.#answers.length]) statement.state = 'known'
    const words = text.split(' ')
    const count = words.length > 1 ? Number(words.at(-1)) : 0
    this.#answers.push({ rows: this.#rows, count, command: words[0] ?? '' })
    this.#rows = []
    this.#around.answered()
  }

  /** The answer to a text without a command, such as a comment. */
  handleEmptyQuery(): void {
    this.handleCommandComplete({ text: '' })
  }

  handleReadyForQuery(): void {
    this.#tell()
    this.#end()
  }

  handleError(cause: Error): void {
    const done = this.#answers.length
    for (const [at, { statement }] of this.#asked.entries()) {
      if (at < done || !this.#names[at]) continue
      // The server may have parsed the one that failed.
      statement.name = this.#around.newName()
      statement.state = 'unknown'
    }
    this.#tell()
    const [failed, ...skipped] = this.#asked.slice(done)
    failed?.reject(cause)
    for (const { reject } of skipped) reject(this.#around.skipped(cause))
    this.#end()
  }

  get #current(): Asked {
    return this.#asked[this.#answers.length] as Asked
  }

  #tell(): void {
    for (const [at, answer] of this.#answers.entries()) {
      const { resolve, reject } = this.#asked[at] as Asked
      if (this.#unread.has(at)) reject(this.#unread.get(at))
      else resolve(answer)
    }
  }

  /** The client may wait for it with a timer. */
  #end(): void {
    const { callback } = this as unknown as { callback?: () => void }
    callback?.()
  }
}

/** Bytes are sent as they are, anything else as text. */
function written(value: SqlValue): unknown {
  if (value instanceof Uint8Array) {
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  }
  return value === null ? null : String(value)
}
