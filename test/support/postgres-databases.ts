/** Databases of one PostgreSQL server for tests: copies of empty ones with the schema. */
import { couponSchema, type Schema } from '../../src/db/migrations.ts'
import { Connection } from '../../src/db/postgres/connection.ts'
import { createSchema } from '../../src/db/postgres/schema.ts'
import relayText from '../../src/relay/schema.sql' with { type: 'text' }
import { type Postgres, startPostgres } from './postgres.ts'

const schemas: Record<'coupons' | 'relay', Schema> = {
  coupons: couponSchema,
  relay: { text: relayText, steps: {} },
}

export type Databases = {
  server: Postgres
  connect(database: string): Promise<Connection>
  /** The name of a new database that is empty, with the schema of its kind. */
  create(kind: keyof typeof schemas): Promise<string>
  stop(): Promise<void>
}

/** Start a server. Throws where this machine has no PostgreSQL. */
export async function openDatabases(settings: Record<string, string> = {}): Promise<Databases> {
  const server = await startPostgres(settings)
  if (server === null) throw new Error('this machine has no PostgreSQL')
  const connect = (database: string) =>
    Connection.open({ connectionString: server.url(database) }, 10_000, () => undefined)
  let administrator = await connect('postgres')
  for (const [kind, schema] of Object.entries(schemas)) {
    await administrator.send(`CREATE DATABASE empty_${kind}`, [])
    const made = await connect(`empty_${kind}`)
    await createSchema(made, schema)
    await made.end()
  }
  let made = 0
  return {
    server,
    connect,
    async create(kind) {
      const name = `${kind}_${made++}`
      const text = `CREATE DATABASE ${name} TEMPLATE empty_${kind} STRATEGY FILE_COPY`
      // The server may have been killed meanwhile.
      if (!administrator.open) administrator = await connect('postgres')
      await administrator.send(text, [])
      return name
    },
    async stop() {
      administrator.destroy()
      await server.stop()
    },
  }
}
