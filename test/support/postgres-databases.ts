/** Databases of one PostgreSQL server for tests: copies of an empty one with the schema. */
import { couponSchema } from '../../src/db/migrations.ts'
import { Connection } from '../../src/db/postgres/connection.ts'
import { createSchema } from '../../src/db/postgres/schema.ts'

import { type Postgres, startPostgres } from './postgres.ts'

export type Databases = {
  server: Postgres
  /** A connection of the superuser, for the test itself. The role of the service may use the tables that it makes. */
  connect(database: string): Promise<Connection>
  /** The name of a new database that is empty, with the schema. An ordinary role owns it. */
  create(): Promise<string>
  /** The name of a new database without any table. */
  createBare(): Promise<string>
  /** The name of a new database with everything of another one, which nobody uses: as a dump that was brought back. */
  copy(database: string): Promise<string>
  /** Delete a database that is not used any more: a directory of memory holds hundreds otherwise. */
  drop(database: string): Promise<void>
  stop(): Promise<void>
}

/** Start a server. Throws where this machine has no PostgreSQL. */
export async function openDatabases(
  settings: Record<string, string> = {},
  enter: readonly string[] = [],
  parent?: string,
): Promise<Databases> {
  const server = await startPostgres(settings, enter, parent)
  if (server === null) throw new Error('this machine has no PostgreSQL')
  try {
    return await fill(server)
  } catch (cause) {
    await server.stop()
    throw cause
  }
}

async function fill(server: Postgres): Promise<Databases> {
  const connectAs = (role: 'cuponera' | 'postgres', database: string) =>
    Connection.open({ connectionString: server.url(database, role) }, 10_000, () => undefined)
  const connect = (database: string) => connectAs('postgres', database)
  let administrator = await connect('postgres')
  await administrator.send('CREATE ROLE cuponera LOGIN CREATEDB', [])
  await administrator.send('CREATE DATABASE empty OWNER cuponera', [])
  const superuser = await connect('empty')
  await superuser.send('ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO cuponera', [])
  await superuser.end()
  const owner = await connectAs('cuponera', 'empty')
  await createSchema(owner, couponSchema)
  await owner.end()
  let made = 0
  const administer = async (text: string) => {
    // The server may have been killed meanwhile.
    if (!administrator.open) administrator = await connect('postgres')
    await administrator.send(text, [])
  }
  return {
    server,
    connect,
    async create() {
      const name = `shop_${made++}`
      await administer(`CREATE DATABASE ${name} OWNER cuponera TEMPLATE empty STRATEGY FILE_COPY`)
      return name
    },
    async createBare() {
      const name = `bare_${made++}`
      await administer(`CREATE DATABASE ${name} OWNER cuponera TEMPLATE template0`)
      return name
    },
    async copy(database) {
      const name = `copy_${made++}`
      await administer(`CREATE DATABASE ${name} OWNER cuponera TEMPLATE ${database}`)
      return name
    },
    drop: (database) => administer(`DROP DATABASE ${database} WITH (FORCE)`),
    async stop() {
      administrator.destroy()
      await server.stop()
    },
  }
}
