import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Connection, StatementFailed } from '../../src/db/postgres/connection.ts'
import { databaseUrlOf, disconnect, serverUrl } from './database.ts'
import { checkedProgram, program } from './program.ts'

export type TestServer = {
  url: string
  dataDir: string
  pid: number
  /** Everything the process wrote so far. */
  output(): string
  /** Ask it to stop; its exit code, once `output` is whole. */
  stop(): Promise<number>
  /** kill -9; resolves when it is gone. */
  kill(): Promise<void>
  exited: Promise<number>
}

export type ServerOptions = {
  /** Kept by the caller; default: a new one, removed by `cleanUp`. */
  dataDir?: string
  env?: Record<string, string>
  flags?: string[]
  /** Fail operations that write outside of their roots; with CHECK_ROOTS set, in every server. */
  checkRoots?: boolean
  /** The command to run in place of the source, such as a built binary. */
  command?: readonly string[]
}

const children = new Set<TestServer>()
const directories = new Set<string>()
/** Addresses of databases that `cleanUp` deletes. */
const databases = new Set<string>()

/** A directory that `cleanUp` removes. */
export function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'cuponera-test-'))
  directories.add(directory)
  return directory
}

/** Start a real server process on a free port; resolves when it listens. */
export async function startServer(options: ServerOptions = {}): Promise<TestServer> {
  const dataDir = options.dataDir ?? newDirectory()
  const checked = options.checkRoots ?? process.env.CHECK_ROOTS !== undefined
  const command = options.command ?? (checked ? checkedProgram : program)
  const child = Bun.spawn([...command, 'serve', ...(options.flags ?? [])], {
    env: {
      PATH: process.env.PATH,
      HOST: '127.0.0.1',
      PORT: '0',
      DATA_DIR: dataDir,
      LOG_FORMAT: 'json',
      ...(await databaseEnv(dataDir)),
      ...options.env,
    },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  let output = ''
  const collect = async (stream: ReadableStream<Uint8Array>) => {
    const decoder = new TextDecoder()
    for await (const chunk of stream) output += decoder.decode(chunk, { stream: true })
  }
  const collected = Promise.all([collect(child.stdout), collect(child.stderr)])
  const address = async () => {
    for (;;) {
      const found = /address\s+(http\S+)/.exec(output)?.[1]
      if (found) return found
      if (child.exitCode !== null) {
        await collected
        throw new Error(`the server ended with ${child.exitCode}: ${output}`)
      }
      await Bun.sleep(5)
    }
  }
  const url = await address()
  const server: TestServer = {
    url,
    dataDir,
    pid: child.pid,
    output: () => output,
    async stop() {
      child.kill('SIGTERM')
      const code = await child.exited
      await collected
      return code
    },
    async kill() {
      child.kill('SIGKILL')
      await child.exited
    },
    exited: child.exited,
  }
  children.add(server)
  return server
}

/** The setting of a service that has its database on PostgreSQL. The first one of a data directory makes it. */
export async function databaseEnv(dataDir: string): Promise<{ DATABASE_URL?: string }> {
  const url = databaseUrlOf(dataDir)
  if (url === null) return {}
  try {
    await administer(`CREATE DATABASE ${nameIn(url)} TEMPLATE empty STRATEGY FILE_COPY`, 'cuponera')
    databases.add(url)
  } catch (cause) {
    // A server that starts again on its directory.
    if (!(cause instanceof StatementFailed && cause.code === '42P04')) throw cause
  }
  return { DATABASE_URL: url }
}

function nameIn(url: string): string {
  return /\/(t_\w+)\?/.exec(url)?.[1] ?? ''
}

/** `as`: an owner may not end what a superuser has open, such as the connections of a test (database.ts). */
async function administer(text: string, as: 'cuponera' | 'postgres'): Promise<void> {
  const open = { connectionString: serverUrl?.replace('//cuponera@', `//${as}@`) }
  const administrator = await Connection.open(open, 10_000, () => undefined)
  try {
    await administrator.send(text, [])
  } finally {
    await administrator.end()
  }
}

/** End every server this file started and remove their directories and databases: for `afterEach` or `afterAll`. */
export async function cleanUp(): Promise<void> {
  await Promise.all([...children].map((server) => server.kill()))
  children.clear()
  await disconnect()
  for (const url of databases) {
    await administer(`DROP DATABASE ${nameIn(url)} WITH (FORCE)`, 'postgres')
  }
  databases.clear()
  for (const directory of directories) rmSync(directory, { recursive: true, force: true })
  directories.clear()
}
