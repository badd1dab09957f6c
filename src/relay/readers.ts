import { limits } from '../limits.ts'

type Reader = { unread: number }

type ReaderOptions = {
  /** Texts for connections, in order. */
  send: (connections: readonly number[], text: string) => void
  /** A reader is so slow that it is let go. */
  drop: (connection: number, reason: string) => void
  /** A reader has room again for the answer to a question. */
  roomy: (connection: number) => void
}

/** What each connection has yet to read: what bounds memory, however slowly they do. */
export function createReaders({ send, drop, roomy }: ReaderOptions) {
  const readers = new Map<number, Reader>()
  let total = 0

  const letGo = (connection: number, reason: string) => {
    forget(connection)
    drop(connection, reason)
  }
  const forget = (connection: number) => {
    total -= readers.get(connection)?.unread ?? 0
    readers.delete(connection)
  }
  const slowest = () => {
    let found: [number, Reader] | undefined
    for (const entry of readers) if (entry[1].unread > (found?.[1].unread ?? 0)) found = entry
    return found?.[0]
  }

  return {
    open: (connection: number) => void readers.set(connection, { unread: 0 }),
    close: forget,

    /** Send one text to several connections; whoever left is passed over. */
    send(connections: readonly number[], text: string): void {
      const present = connections.filter((connection) => readers.has(connection))
      if (present.length === 0) return
      send(present, text)
      for (const connection of present) {
        const reader = readers.get(connection)
        if (!reader) continue
        reader.unread += text.length
        total += text.length
        if (reader.unread > limits.relayUnreadCharsMax) letGo(connection, 'reads too slowly')
      }
      while (total > limits.relayUnreadTotalCharsMax) {
        const connection = slowest()
        if (connection === undefined) return
        letGo(connection, 'reads too slowly')
      }
    },

    /** This much of it left our memory. */
    taken(connection: number, chars: number): void {
      const reader = readers.get(connection)
      if (!reader) return
      reader.unread -= chars
      total -= chars
      if (reader.unread <= limits.relayUnreadPauseChars) roomy(connection)
    },

    /** False while a question of this connection has to wait. */
    hasRoom: (connection: number): boolean =>
      (readers.get(connection)?.unread ?? 0) <= limits.relayUnreadPauseChars,
  }
}
