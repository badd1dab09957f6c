/** Nodes of one service on a database of PostgreSQL. */
import { cpSync } from 'node:fs'
import { basename, join } from 'node:path'
import { newDirectory, type ServerOptions, startServer } from './server.ts'

export type Nodes = {
  /** The addresses of those that run. */
  running(): string[]
  /** The data directory of one that runs. */
  directoryOf(address: string): string
  kill(address: string): Promise<void>
  /** Start those again that were killed. */
  revive(): Promise<void>
  stop(): Promise<void>
}

/** The address of the service, for signatures: each node takes them. */
export const origin = 'https://tienda.example'

/** Settings of a service that anybody may use as much as they like. */
export const shopEnv = { PUBLIC_URL: origin, MERCHANTS: 'open', RATE_LIMIT: 'off' }

/** Start nodes of a service on an empty database. */
export async function openNodes(
  url: string,
  count: number,
  { command }: Pick<ServerOptions, 'command'> = {},
): Promise<Nodes> {
  const start = (dataDir: string) =>
    startServer({
      ...{ dataDir, ...(command && { command }) },
      env: {
        ...{ ...shopEnv, DATABASE_URL: url },
        ...{ NODE_NAME: basename(dataDir), LOG_LEVEL: 'warn' },
      },
    })
  const first = await start(newDirectory())
  // The others have the keys of the first one.
  const others = Array.from({ length: count - 1 }, () => {
    const dataDir = newDirectory()
    cpSync(join(first.dataDir, 'keys'), join(dataDir, 'keys'), { recursive: true })
    return dataDir
  })
  let running = [first, ...(await Promise.all(others.map(start)))]
  const dead: string[] = []
  return {
    running: () => running.map((node) => node.url),
    directoryOf: (address) => running.find((node) => node.url === address)?.dataDir ?? '',
    async kill(address) {
      const killed = running.filter((node) => node.url === address)
      running = running.filter((node) => node.url !== address)
      for (const node of killed) {
        await node.kill()
        dead.push(node.dataDir)
      }
    },
    async revive() {
      // At another address: the port may belong to another program by now.
      running.push(...(await Promise.all(dead.splice(0).map(start))))
    },
    async stop() {
      await Promise.all(running.map((node) => node.kill()))
    },
  }
}
