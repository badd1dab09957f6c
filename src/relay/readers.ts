import { limits } from '../base/limits.ts'

type Reader = { unread: number }

type ReaderOptions = {
  /** Send a text to connections, in order. */
  send: (connections: readonly number[], text: string) => void
  /** Called when a connection can take the answer to a REQ again. */
  hasRoomAgain: (connection: number) => void
}

/**
 * Create the flow control of the relay's thread. It counts unread characters per connection, so that the REQs of a
 * slow reader wait. The main thread closes slow readers, because only it sees the state of the socket.
 */
export function createReaders({ send, hasRoomAgain }: ReaderOptions) {
  const readers = new Map<number, Reader>()

  return {
    open: (connection: number) => void readers.set(connection, { unread: 0 }),
    close: (connection: number) => void readers.delete(connection),

    /** Send one text to several connections. Closed ones are skipped. */
    send(connections: readonly number[], text: string): void {
      const present = connections.filter((connection) => readers.has(connection))
      if (present.length === 0) return
      send(present, text)
      for (const connection of present) {
        const reader = readers.get(connection)
        if (reader) reader.unread += text.length
      }
    },

    /** Count characters that were sent to the client. */
    flushed(connection: number, chars: number): void {
      const reader = readers.get(connection)
      if (!reader) return
      reader.unread -= chars
      if (reader.unread <= limits.relayUnreadPauseChars) hasRoomAgain(connection)
    },

    /** False while the REQs of this connection must wait. */
    hasRoom: (connection: number): boolean =>
      (readers.get(connection)?.unread ?? 0) <= limits.relayUnreadPauseChars,
  }
}
