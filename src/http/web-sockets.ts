import type { ServerWebSocket } from 'bun'
import { limits } from '../base/limits.ts'
import type { LoopMonitor } from './loop.ts'

/** The WebSocket server of the route that upgrades. It numbers its connections. */
export type Sockets = {
  open(socket: Socket, peer: { address: string; origins: readonly string[] }): number
  message(connection: number, text: string): void
  /** Called when everything that was sent to this connection has left. */
  drained(connection: number): void
  close(connection: number): void
}

/** One WebSocket. `send` is false if the text has to wait in our memory. */
type Socket = {
  send(text: string): boolean
  /** Bytes that wait in our memory. */
  buffered(): number
  pause(): void
  resume(): void
  close(code: number, reason: string): void
}

/** The data of a WebSocket. `route` is the pattern of the route that upgraded it. */
export type SocketData = {
  route: string
  address: string
  origins: readonly string[]
  connection: number
}

/** The handlers of WebSockets for Bun. */
export function webSocketHandlers(sockets: Sockets | null, loop: LoopMonitor) {
  return {
    // A longer frame ends the connection without a word, so this is twice the bound of a message.
    maxPayloadLength: limits.relayMessageBytesMax * 2,
    // The relay disconnects slow readers earlier.
    backpressureLimit: limits.relayUnreadBytesMax * 2,
    closeOnBackpressureLimit: true,
    idleTimeout: limits.socketIdleSeconds,
    open(socket: ServerWebSocket<SocketData>) {
      socket.data.connection = sockets?.open(toSocket(socket), socket.data) ?? 0
    },
    message(socket: ServerWebSocket<SocketData>, message: string | Buffer) {
      if (typeof message !== 'string') return socket.close(1003, 'text only')
      if (tooLong(message)) {
        socket.send(
          `["NOTICE","too large: a message has at most ${limits.relayMessageBytesMax} bytes"]`,
        )
        return socket.close(1009, 'too large')
      }
      const { route, connection } = socket.data
      loop.enter(route)
      sockets?.message(connection, message)
      loop.leave(route)
    },
    drain(socket: ServerWebSocket<SocketData>) {
      if (socket.getBufferedAmount() === 0) sockets?.drained(socket.data.connection)
    },
    close(socket: ServerWebSocket<SocketData>) {
      sockets?.close(socket.data.connection)
    },
  }
}

/** True above the bound of a message in UTF-8. Most messages are so short that their bytes need no count. */
function tooLong(message: string): boolean {
  const max = limits.relayMessageBytesMax
  return message.length > max / 3 && Buffer.byteLength(message) > max
}

function toSocket(socket: ServerWebSocket<SocketData>): Socket {
  return {
    send: (text) => socket.send(text) > 0,
    buffered: () => socket.getBufferedAmount(),
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    close(code, reason) {
      // A client that does not read would not see the reason either.
      if (socket.getBufferedAmount() > 0) socket.terminate()
      else socket.close(code, reason)
    },
  }
}
