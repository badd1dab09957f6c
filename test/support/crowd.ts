import { createConnection, type Socket } from 'node:net'

/** A connection from one of the loopback's addresses, and all that came over it. */
export type RawConnection = {
  socket: Socket
  received(): string
  /** Resolves when what came so far fits. Throws when the connection ends without it. */
  until(fits: (received: string) => boolean): Promise<string>
  /** All that came, once it ended. */
  ended: Promise<string>
}

const open = new Set<Socket>()

/** Close what a test left open. */
export function closeConnections(): void {
  for (const socket of open) socket.destroy()
  open.clear()
}

/** Connect to a server from `from`, such as 127.0.0.2, and send this. */
export function connectFrom(base: string, from: string, text: string): Promise<RawConnection> {
  const { hostname: host, port } = new URL(base)
  const socket = createConnection({ host, port: Number(port), localAddress: from })
  open.add(socket)
  let received = ''
  const looks = new Set<() => void>()
  const look = () => {
    for (const one of looks) one()
  }
  const ended = new Promise<string>((resolve) => {
    socket.on('close', () => {
      open.delete(socket)
      resolve(received)
      look()
    })
  })
  socket.on('error', () => undefined)
  socket.on('data', (bytes) => {
    received += bytes.toString('latin1')
    look()
  })
  const until: RawConnection['until'] = (fits) =>
    new Promise((resolve, reject) => {
      const check = () => {
        const found = fits(received)
        if (!found && !socket.destroyed) return
        looks.delete(check)
        if (found) resolve(received)
        else reject(new Error(`ended with ${received.slice(0, 500)}`))
      }
      looks.add(check)
      check()
    })
  return new Promise((resolve, reject) => {
    socket.once('error', reject)
    socket.once('connect', () => {
      socket.write(text)
      resolve({ socket, received: () => received, until, ended })
    })
  })
}

/** So many connections from each of these addresses, one after the other. */
export async function connectCrowd(
  base: string,
  addresses: readonly string[],
  each: number,
  text: string,
): Promise<RawConnection[]> {
  const all: RawConnection[] = []
  for (let turn = 0; turn < each; turn++) {
    all.push(...(await Promise.all(addresses.map((from) => connectFrom(base, from, text)))))
  }
  return all
}

/** The request that opens the relay's WebSocket. */
export function upgradeText(base: string): string {
  return [
    'GET /relay HTTP/1.1',
    `Host: ${new URL(base).host}`,
    'Upgrade: websocket',
    'Connection: Upgrade',
    `Sec-WebSocket-Key: ${'A'.repeat(22)}==`,
    'Sec-WebSocket-Version: 13\r\n\r\n',
  ].join('\r\n')
}
