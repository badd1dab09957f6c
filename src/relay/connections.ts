import { FairShares } from '../base/fair-shares.ts'
import { limits } from '../base/limits.ts'
import { type Peer, type ToRelay, weightOf } from './messages.ts'

/** The WebSocket of one client. */
export type ClientSocket = {
  /** Send a text. False if it stays in this process's memory; `drained` is called when all was sent. */
  send(text: string): boolean
  /** Bytes that are not sent yet. */
  buffered(): number
  /** Stop reading from the socket (backpressure), and go on. */
  pause(): void
  resume(): void
  close(code: number, reason: string): void
}

type Connection = {
  socket: ClientSocket
  /** Client address. Null for the service's own connection, which is never closed to make room. */
  address: string | null
  /** Time of its last message, at first of its opening, in milliseconds of a monotonic clock. */
  heardAt: number
  silent: boolean
  /** Weight of messages that the relay's thread has not handled yet. */
  unhandled: number
  paused: boolean
  /** Characters sent since the last report to the relay's thread. */
  unreported: number
  full: boolean
  /** Unsent bytes at the last measurement. */
  backlog: number
  /** Last time without unsent bytes, in milliseconds of a monotonic clock. */
  caughtUp: number
}

/**
 * Create the main thread's side of the relay's connections. It passes messages between sockets and the relay's
 * thread. It stops reading from clients that send faster than the relay works, so that no queue grows between the
 * threads. `steadyMs` reads a monotonic clock in milliseconds.
 */
export function createConnections(post: (message: ToRelay) => void, steadyMs: () => number) {
  const connections = new Map<number, Connection>()
  const shares = new FairShares<number>()
  let serial = 0
  let unhandledTotal = 0
  let backlogTotal = 0

  const reportFlushed = (number: number, connection: Connection) => {
    post({ type: 'flushed', connection: number, chars: connection.unreported })
    connection.unreported = 0
  }
  const forget = (number: number) => {
    const connection = connections.get(number)
    unhandledTotal -= connection?.unhandled ?? 0
    backlogTotal -= connection?.backlog ?? 0
    if (connection?.address) shares.remove(connection.address, number)
    connections.delete(number)
  }
  const measure = (connection: Connection, bytes: number) => {
    backlogTotal += bytes - connection.backlog
    connection.backlog = bytes
  }
  const evict = (number: number, code: number, reason: string) => {
    const connection = connections.get(number)
    post({ type: 'close', connection: number })
    forget(number)
    connection?.socket.close(code, reason)
  }
  /** The least active connection of an address: one that never sent a message, else the one silent for longest. */
  const idlest = (address: string, newcomer: number) => {
    const silentBefore = steadyMs() - limits.relaySilentSeconds * 1000
    const rank = (number: number) => {
      const { silent = false, heardAt = 0 } = connections.get(number) ?? {}
      return silent && heardAt < silentBefore ? heardAt - silentBefore : heardAt
    }
    const others = shares.itemsOf(address).filter((number) => number !== newcomer)
    return others.reduce((one, other) => (rank(other) < rank(one) ? other : one), others[0] ?? 0)
  }
  /**
   * Make room for a new connection. An address over its share, or the one with the most, loses its least active one.
   * Refusing the new one in place of that would let idle clients keep everybody out.
   */
  const makeRoom = (address: string, newcomer: number) => {
    const { relayConnectionsPerAddressMax: shareMax, relayConnectionsMax: max } = limits
    for (;;) {
      const owner = shares.overfull(address, shareMax, max)
      const number = owner === null ? 0 : idlest(owner, newcomer)
      if (number === 0) return
      connections.get(number)?.socket.send('["NOTICE","closed: too many connections"]')
      evict(number, 1013, 'too many connections')
    }
  }
  /** Close the connection of a client that reads too slowly, because its unsent data fills the memory. */
  const evictSlow = (number: number) => evict(number, 1008, 'reads too slowly')
  const slowest = () => {
    let found: [number, Connection] | undefined
    for (const entry of connections) {
      if (entry[1].backlog > (found?.[1].backlog ?? 0)) found = entry
    }
    return found?.[0]
  }

  return {
    open(socket: ClientSocket, peer: Peer): number {
      const number = ++serial
      connections.set(number, {
        socket,
        address: peer.inside ? null : peer.address,
        heardAt: steadyMs(),
        silent: true,
        unhandled: 0,
        paused: false,
        unreported: 0,
        full: false,
        backlog: 0,
        caughtUp: 0,
      })
      post({ type: 'open', connection: number, peer })
      if (!peer.inside) {
        shares.add(peer.address, number)
        makeRoom(peer.address, number)
      }
      return number
    },

    /** Pass a message of a client to the relay's thread. */
    message(number: number, text: string): void {
      const connection = connections.get(number)
      if (!connection) return
      // The message is posted even above the bound: it is read already. Only further reading stops.
      const weight = weightOf(text)
      connection.heardAt = steadyMs()
      connection.silent = false
      connection.unhandled += weight
      unhandledTotal += weight
      post({ type: 'message', connection: number, text })
      const tooMuch =
        connection.unhandled > limits.relayInboxCharsMax ||
        unhandledTotal > limits.relayInboxTotalCharsMax
      if (!tooMuch || connection.paused) return
      connection.paused = true
      connection.socket.pause()
    },

    /** Count handled messages, and resume paused sockets. The list has connection and weight in turn. */
    handled(list: readonly number[]): void {
      for (let at = 0; at < list.length; at += 2) {
        const connection = connections.get(list[at] ?? 0)
        const weight = list[at + 1] ?? 0
        if (!connection) continue
        connection.unhandled -= weight
        unhandledTotal -= weight
        if (!connection.paused || connection.unhandled > limits.relayInboxCharsMax / 2) continue
        // A connection without unhandled messages resumes even above the total: else all could wait for each other.
        if (connection.unhandled > 0 && unhandledTotal > limits.relayInboxTotalCharsMax) continue
        connection.paused = false
        connection.socket.resume()
      }
    },

    /** Send texts. In the list, each text is followed by its connections. */
    send(messages: readonly (string | number)[]): void {
      let text = ''
      const touched = new Set<number>()
      for (const item of messages) {
        if (typeof item === 'string') {
          text = item
          continue
        }
        const connection = connections.get(item)
        if (!connection) continue
        touched.add(item)
        connection.unreported += text.length
        if (connection.socket.send(text)) continue
        if (!connection.full) connection.caughtUp = steadyMs()
        connection.full = true
        measure(connection, connection.socket.buffered())
        const behindSeconds = (steadyMs() - connection.caughtUp) / 1000
        const tooMuch = connection.backlog > limits.relayUnreadBytesMax
        if (tooMuch || behindSeconds > limits.relaySlowSeconds) evictSlow(item)
        while (backlogTotal > limits.relayUnreadTotalBytesMax) {
          const number = slowest()
          if (number === undefined) break
          evictSlow(number)
        }
      }
      for (const number of touched) {
        const connection = connections.get(number)
        if (connection && !connection.full) reportFlushed(number, connection)
      }
    },

    /** All texts for this connection were sent. */
    drained(number: number): void {
      const connection = connections.get(number)
      if (!connection) return
      connection.full = false
      measure(connection, 0)
      reportFlushed(number, connection)
    },

    /** The relay closed this connection. */
    drop(number: number, reason: string): void {
      const connection = connections.get(number)
      forget(number)
      connection?.socket.close(1008, reason)
    },

    /** The client closed this connection. */
    close(number: number): void {
      if (connections.has(number)) post({ type: 'close', connection: number })
      forget(number)
    },

    /** The relay's thread ended. Clients must connect again. */
    closeAll(): void {
      const sockets = [...connections.values()].map(({ socket }) => socket)
      for (const number of [...connections.keys()]) forget(number)
      unhandledTotal = 0
      backlogTotal = 0
      for (const socket of sockets) socket.close(1012, 'the relay is being started again')
    },
  }
}
