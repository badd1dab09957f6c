/** Ports for programs that cannot choose one themselves. */
import { createServer } from 'node:net'

/** A port below those that a system gives to connections, which come and go while others are tested. */
export const newPort = () => 20_000 + Math.floor(Math.random() * 12_000)

/** Different ports of this machine on which nobody listens. */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>()
  while (ports.size < count) {
    const port = newPort()
    if (await isFree(port)) ports.add(port)
  }
  return [...ports]
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  const { promise, resolve } = Promise.withResolvers<boolean>()
  server.on('listening', () => resolve(true)).on('error', () => resolve(false))
  server.listen(port, '127.0.0.1')
  const free = await promise
  if (free) await new Promise((closed) => server.close(closed))
  return free
}
