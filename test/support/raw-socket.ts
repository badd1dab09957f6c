/** A WebSocket that reads only when it is told to, and then counts what comes. */
export type RawSocket = {
  send(message: unknown): void
  read(): void
  received(): number
  /** Known only once everything was read. */
  ended(): boolean
  end(): void
}

/** Connect to the relay of a server without reading what it sends after the handshake. */
export async function openRawSocket(base: string): Promise<RawSocket> {
  const { hostname, port } = new URL(base)
  let received = 0
  let ended = false
  const upgraded = Promise.withResolvers<void>()
  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      open(raw) {
        raw.write(
          [
            'GET /relay HTTP/1.1',
            `Host: ${hostname}:${port}`,
            'Upgrade: websocket',
            'Connection: Upgrade',
            `Sec-WebSocket-Key: ${'A'.repeat(22)}==`,
            'Sec-WebSocket-Version: 13\r\n\r\n',
          ].join('\r\n'),
        )
      },
      data(raw, chunk) {
        if (received === 0) {
          raw.pause()
          upgraded.resolve()
        }
        received += chunk.length
      },
      close() {
        ended = true
        upgraded.reject(new Error('the server closed the connection'))
      },
    },
  })
  await upgraded.promise
  return {
    send: (message) => void socket.write(textFrame(JSON.stringify(message))),
    read: () => socket.resume(),
    received: () => received,
    ended: () => ended,
    end: () => socket.terminate(),
  }
}

/** A text message as a client sends it, masked with zeros. */
export function textFrame(text: string): Buffer {
  const body = Buffer.from(text)
  const length =
    body.length < 126
      ? Buffer.of(0x80 | body.length)
      : body.length < 65_536
        ? Buffer.of(0x80 | 126, body.length >> 8, body.length & 255)
        : Buffer.of(
            0x80 | 127,
            0,
            0,
            0,
            0,
            ...[24, 16, 8, 0].map((by) => (body.length >> by) & 255),
          )
  return Buffer.concat([Buffer.of(0x81), length, Buffer.alloc(4), body])
}
