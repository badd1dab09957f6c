import { limits } from '../base/limits.ts'

type Reader = { unread: number }

type ReaderOptions = {
  /** Texts for connections, in order. */
  send: (connections: readonly number[], text: string) => void
  /** A reader has room again for the answer to a question. */
  hasRoomAgain: (connection: number) => void
}

/**
 * What each connection has yet to take: questions of one that is behind wait. Letting go of a reader
 * is for who holds the socket: what is on its way there is not yet slow.
 */
export function createReaders({ send, hasRoomAgain }: ReaderOptions) {
  const readers = new Map<number, Reader>()

  return {
    open: (connection: number) => void readers.set(connection, { unread: 0 }),
    close: (connection: number) => void readers.delete(connection),

    /** Send one text to several connections; whoever left is passed over. */
    send(connections: readonly number[], text: string): void {
      const present = connections.filter((connection) => readers.has(connection))
      if (present.length === 0) return
      send(present, text)
      for (const connection of present) {
        const reader = readers.get(connection)
        if (reader) reader.unread += text.length
      }
    },

    /** This much of it left our memory. */
    flushed(connection: number, chars: number): void {
      const reader = readers.get(connection)
      if (!reader) return
      reader.unread -= chars
      if (reader.unread <= limits.relayUnreadPauseChars) hasRoomAgain(connection)
    },

    /** False while a question of this connection has to wait. */
    hasRoom: (connection: number): boolean =>
      (readers.get(connection)?.unread ?? 0) <= limits.relayUnreadPauseChars,
  }
}
