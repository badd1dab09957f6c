/** A way to a PostgreSQL server that can be cut, and held like a network that drops its packets. */
import { chmodSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import type { Postgres } from './postgres.ts'
import { newDirectory } from './server.ts'

const file = '.s.PGSQL.5432'

export type Host = {
  /** The directory of its Unix socket. */
  socket: string
  /** The server behind it; null refuses connections. */
  lead(server: Pick<Postgres, 'socket'> | null): void
  /** End every connection. */
  cut(): void
  /** Pass nothing on, in either direction, until `letGo`. What was sent arrives then, unless it is cut. */
  hold(): void
  letGo(): void
  close(): void
}

export async function openHost(server: Pick<Postgres, 'socket'> | null): Promise<Host> {
  const directory = newDirectory()
  let target = server
  let held = false
  const sockets = new Set<Socket>()
  const listener = createServer((client) => {
    if (target === null) return void client.destroy()
    const inner = connect(join(target.socket, file))
    const both = [client, inner]
    const end = () => {
      for (const socket of both) {
        sockets.delete(socket)
        socket.destroy()
      }
    }
    for (const socket of both) {
      sockets.add(socket)
      socket.on('error', end).on('close', end)
    }
    client.pipe(inner)
    inner.pipe(client)
    if (held) for (const socket of both) socket.pause()
  })
  await new Promise<void>((resolve) => listener.listen(join(directory, file), resolve))
  // A standby that comes this way runs as another user.
  chmodSync(directory, 0o755)
  chmodSync(join(directory, file), 0o777)
  const each = (run: (socket: Socket) => void) => {
    for (const socket of [...sockets]) run(socket)
  }
  return {
    socket: directory,
    lead(other) {
      target = other
    },
    cut: () => each((socket) => socket.destroy()),
    hold() {
      held = true
      each((socket) => socket.pause())
    },
    letGo() {
      held = false
      each((socket) => socket.resume())
    },
    close() {
      each((socket) => socket.destroy())
      listener.close()
    },
  }
}
