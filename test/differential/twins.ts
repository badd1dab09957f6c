import { Database as Sqlite } from 'bun:sqlite'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '../../src/app/config.ts'
import { type App, start } from '../../src/app/start.ts'
import { limits } from '../../src/base/limits.ts'
import type { Log } from '../../src/base/log.ts'
import { OutboundError } from '../../src/outbound/fetch-public.ts'
import { secondsNow } from '../support/clock.ts'
import type { Databases } from '../support/postgres-databases.ts'
import { kindOfComplaint } from '../support/shorten.ts'
import { turnTo } from './determined.ts'

/** The address under which clients know both services. */
export const base = 'https://cupones.example'

/** The two services do not agree. `kind` says where, without the values of this one case. */
export class Difference extends Error {
  readonly kind: string

  constructor(message: string, kind = kindOfComplaint(message)) {
    super(message)
    this.kind = kind
  }
}

/** A request, the same bytes for both services. */
export type Sent = {
  method: string
  path: string
  headers: Record<string, string>
  body: string | Uint8Array | null
}

export type Received = { status: number; headers: Record<string, string>; body: string }

/** One of the two services. */
export type Twin = {
  name: 'embedded' | 'PostgreSQL'
  dataDir: string
  databaseUrl: string | null
  app: App
}

export type Twins = {
  each: readonly [Twin, Twin]
  /** Lines of the log that tell of a fault. */
  faults: string[]
  ask(twin: Twin, sent: Sent): Promise<Received>
  /** Wait until wallets are told of the changes to their cards, since only the last of a second are told. */
  tell(): Promise<void>
  /** Wait until no event is on its way to the relay and, after a start, until old rows are swept. */
  rest(): Promise<void>
  /** Give the rows on PostgreSQL another order on the disk, which no answer may show. */
  stir(seed: number): Promise<void>
  restart(): Promise<void>
  stop(): Promise<void>
  end(): Promise<void>
}

/** The longest wait for work in the background. Some events wait for a relay that never takes them. */
const restMs = 1500

/** Start the two services with the same keys and settings. */
export async function startTwins(
  databases: Databases,
  env: Record<string, string>,
): Promise<Twins> {
  const faults: string[] = []
  const database = await databases.create()
  const directories = ['embedded', 'postgres'].map((name) =>
    mkdtempSync(join(tmpdir(), `cuponera-${name}-`)),
  ) as [string, string]
  const open = (dataDir: string, databaseUrl: string | null) => {
    turnTo('start')
    const url = databaseUrl === null ? {} : { DATABASE_URL: databaseUrl }
    const settings = { ...env, ...url, DATA_DIR: dataDir, HOST: '127.0.0.1', PORT: '0' }
    const { config } = readConfig(new Map(), { ...settings, PUBLIC_URL: base }, false)
    // Nothing is outside of the two services.
    const around = () => () => Promise.reject(new OutboundError('connect'))
    return start(config, logOf(databaseUrl === null ? 'embedded' : 'PostgreSQL', faults), {
      around,
    })
  }
  const create = async (at: 0 | 1): Promise<Twin> => {
    const [name, databaseUrl] =
      at === 0
        ? (['embedded', null] as const)
        : (['PostgreSQL', databases.server.url(database)] as const)
    const dataDir = directories[at]
    return { name, dataDir, databaseUrl, app: await open(dataDir, databaseUrl) }
  }
  const each = [await create(0), await create(1)] as const
  const stop = () => Promise.all(each.map((twin) => twin.app.stop()))
  const gone = async (waiting: string) => {
    const until = performance.now() + restMs
    const connection = await databases.connect(database)
    using file = new Sqlite(join(directories[0], 'cuponera.db'), { readonly: true })
    const rows = async () =>
      (await connection.send(waiting, [])).count + file.query(waiting).all().length
    while ((await rows()) > 0 && performance.now() < until) await Bun.sleep(20)
    await connection.end()
  }
  const tell = () =>
    gone(`SELECT 1 FROM card_notices WHERE told < changes AND told_at < ${secondsNow()}`)
  const rest = (restarted = false) => {
    const now = secondsNow()
    return gone(`SELECT 1 FROM deliveries WHERE state = 'pending'
      UNION ALL SELECT 1 FROM proofs WHERE ${restarted} AND accepted_until < ${now - limits.proofWindowSeconds}
      UNION ALL SELECT 1 FROM answers WHERE ${restarted} AND created_at < ${now - limits.answerSeconds}`)
  }
  return {
    ...{ each, faults, ask, rest, tell },
    async stir(seed) {
      const connection = await databases.connect(database)
      await connection.send(stirring(seed), [])
      await connection.end()
    },
    async restart() {
      await rest()
      for (const twin of each) {
        await twin.app.stop()
        twin.app = await open(twin.dataDir, twin.databaseUrl)
      }
      await rest(true)
    },
    async stop() {
      await stop()
    },
    async end() {
      for (const directory of directories) rmSync(directory, { recursive: true, force: true })
      await databases.drop(database)
    },
  }
}

/**
 * Writes the rows of each table again, in an order that the seed gives. Each table is a transaction of its own, so that
 * work in the background meets no deadlock; without triggers, so that the rows stay as they are.
 */
function stirring(seed: number): string {
  return `DO $$
    DECLARE one text;
    BEGIN
      FOR one IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' LOOP
        SET LOCAL session_replication_role = replica;
        EXECUTE format('LOCK TABLE %I', one);
        EXECUTE format('CREATE TEMP TABLE stirred ON COMMIT DROP AS SELECT * FROM %I', one);
        EXECUTE format('DELETE FROM %I', one);
        EXECUTE format('INSERT INTO %I OVERRIDING SYSTEM VALUE
          SELECT * FROM stirred ORDER BY md5(stirred::text || ${seed})', one);
        COMMIT;
      END LOOP;
    END $$`
}

function logOf(name: string, faults: string[]): Log {
  const ignore = () => undefined
  return {
    debug: ignore,
    info: ignore,
    warn: ignore,
    error: (event, fields) => void faults.push(`${name}: ${event} ${Bun.inspect(fields)}`),
  }
}

/** Answer headers that say when and where, and nothing else. */
const left = ['date', 'content-length', 'connection']

async function ask({ app }: Twin, { method, path, headers, body }: Sent): Promise<Received> {
  const response = await fetch(`${app.url}${path}`, {
    ...{ method, body: body as BodyInit | null, redirect: 'manual' },
    headers: { Host: new URL(base).host, ...headers },
  })
  const bytes = Buffer.from(await response.arrayBuffer())
  const told = [...response.headers].filter(([name]) => !left.includes(name))
  return {
    status: response.status,
    headers: Object.fromEntries(told),
    body: bytes.toString('utf8'),
  }
}
