/** The bounds of memory between clients, the main thread and the relay's. */
import { expect, test } from 'bun:test'
import { limits } from '../../src/base/limits.ts'
import { createConnections } from '../../src/relay/connections.ts'
import { type Peer, type ToRelay, weightOf } from '../../src/relay/messages.ts'
import { createReaders } from '../../src/relay/readers.ts'

const peer: Peer = { address: 'a', origins: [] }
const at = (address: string): Peer => ({ address, origins: [] })

function openConnections() {
  const posted: ToRelay[] = []
  const clock = { ms: 0 }
  const connections = createConnections(
    (message) => posted.push(message),
    () => clock.ms,
  )
  /** A client whose socket has room or not. */
  const connect = (from: Peer = peer) => {
    const received: string[] = []
    const client = { number: 0, full: false, buffered: 0, paused: false, received, code: 0 }
    client.number = connections.open(
      {
        send(text) {
          received.push(text)
          if (client.full) client.buffered += text.length
          return !client.full
        },
        buffered: () => client.buffered,
        pause: () => {
          client.paused = true
        },
        resume: () => {
          client.paused = false
        },
        close: (code) => {
          client.code = code
        },
      },
      from,
    )
    return client
  }
  return { connections, posted, connect, clock }
}

test('a client that sends faster than the relay works is not read from until half of it is handled', () => {
  const { connections, connect } = openConnections()
  const [fast, other] = [connect(), connect()]
  const text = 'x'.repeat(100_000)
  let sent = 0
  while (!fast.paused && sent < 100) {
    connections.message(fast.number, text)
    sent++
  }
  expect(sent).toBe(Math.floor(limits.relayInboxCharsMax / weightOf(text)) + 1)
  expect(other.paused).toBe(false)
  connections.handled([fast.number, weightOf(text)])
  expect(fast.paused).toBe(true)
  for (let left = sent - 1; left > sent / 2 - 1; left--) {
    connections.handled([fast.number, weightOf(text)])
  }
  expect(fast.paused).toBe(false)
})

test('the unhandled bytes of all clients together are bounded; those of closed connections count no more', () => {
  const { connections, connect } = openConnections()
  const text = 'x'.repeat(1000_000)
  const many = Array.from({ length: 40 }, () => connect())
  for (const { number } of many) connections.message(number, text)
  const paused = many.filter((client) => client.paused)
  expect(paused.length).toBe(40 - Math.floor(limits.relayInboxTotalCharsMax / weightOf(text)))
  const [first] = paused
  connections.handled([first?.number ?? 0, weightOf(text)])
  expect(first?.paused).toBe(false)
  for (const { number } of many) connections.close(number)
  const next = connect()
  connections.message(next.number, text)
  expect(next.paused).toBe(false)
})

test('short messages count with a minimum size', () => {
  const { connections, connect } = openConnections()
  const client = connect()
  let sent = 0
  while (!client.paused && sent < 20_000) {
    connections.message(client.number, '[]')
    sent++
  }
  expect(sent).toBeLessThan(11_000)
})

test('sent messages are acknowledged at once, and not while the socket is full', () => {
  const { connections, posted, connect } = openConnections()
  const client = connect()
  const taken = () =>
    posted.flatMap((message) => (message.type === 'flushed' ? [message.chars] : []))
  connections.send(['xx', client.number, 'yy', client.number])
  expect(taken()).toEqual([4])
  client.full = true
  connections.send(['xxx', client.number, 'xxx', client.number])
  expect(taken()).toEqual([4])
  client.full = false
  connections.drained(client.number)
  expect(taken()).toEqual([4, 6])
})

test('a new connection replaces the idlest one of its address, and no other', () => {
  const { connections, posted, connect, clock } = openConnections()
  const { relayConnectionsPerAddressMax: most, relaySilentSeconds } = limits
  const other = connect(at('other'))
  const [mute, old, ...rest] = Array.from({ length: most }, () => connect())
  for (const { number } of rest) connections.message(number, '[]')
  connections.message(old?.number ?? 0, '[]')
  clock.ms += relaySilentSeconds * 1000 + 1
  for (const { number } of rest) connections.message(number, '[]')
  const newcomers = [connect(), connect()]
  expect([mute?.code, old?.code]).toEqual([1013, 1013])
  expect(mute?.received).toEqual(['["NOTICE","closed: too many connections"]'])
  const served = [other, ...rest, ...newcomers]
  expect(served.filter(({ code }) => code !== 0)).toEqual([])
  expect(posted).toContainEqual({ type: 'close', connection: mute?.number ?? 0 })
  // A closed connection has made room.
  connections.close(rest[0]?.number ?? 0)
  connect()
  expect(served.filter(({ code }) => code !== 0)).toEqual([])
})

test('when all places are taken, the address with the most connections gives one up', () => {
  const { connect } = openConnections()
  const { relayConnectionsPerAddressMax: most, relayConnectionsMax: all } = limits
  const greedy = Array.from({ length: most }, () => connect(at('greedy')))
  const others = Array.from({ length: all - most }, (_, turn) => connect(at(`one of ${turn % 50}`)))
  const ours = Array.from({ length: 5 }, () => connect(at('shop')))
  expect(greedy.filter(({ code }) => code === 1013).length).toBe(5)
  expect([...others, ...ours].filter(({ code }) => code !== 0)).toEqual([])
})

test('connections of the service itself are neither counted nor replaced', () => {
  const { connect } = openConnections()
  const inside = Array.from({ length: 200 }, () => connect({ ...peer, inside: true }))
  const outside = Array.from({ length: limits.relayConnectionsPerAddressMax + 20 }, () => connect())
  expect(inside.filter(({ code }) => code !== 0)).toEqual([])
  expect(outside.filter(({ code }) => code !== 0).length).toBe(20)
})

test('a reader with too many unread bytes is disconnected, and the relay is told', () => {
  const { connections, posted, connect } = openConnections()
  const [slow, quick] = [connect(), connect()]
  slow.full = true
  const half = 'x'.repeat(limits.relayUnreadBytesMax / 2)
  connections.send([half, slow.number, quick.number, half, slow.number, quick.number])
  expect([slow.code, quick.code]).toEqual([0, 0])
  connections.send(['x', slow.number, quick.number])
  expect([slow.code, quick.code]).toEqual([1008, 0])
  expect(posted).toContainEqual({ type: 'close', connection: slow.number })
})

test('a reader that stayed behind for a while is disconnected when more comes for it', () => {
  const { connections, connect, clock } = openConnections()
  const slow = connect()
  slow.full = true
  connections.send(['x', slow.number])
  clock.ms = limits.relaySlowSeconds * 1000
  connections.send(['x', slow.number])
  expect(slow.code).toBe(0)
  clock.ms += 1
  connections.send(['x', slow.number])
  expect(slow.code).toBe(1008)
})

test('the unread bytes of all readers together are bounded; the slowest is disconnected first', () => {
  const { connections, connect } = openConnections()
  const many = Array.from({ length: 40 }, () => connect())
  for (const client of many) client.full = true
  const text = 'x'.repeat(limits.relayUnreadTotalBytesMax / 32)
  connections.send(['x', many[6]!.number])
  for (const { number } of many) connections.send([text, number])
  const gone = many.filter(({ code }) => code === 1008)
  expect(gone).toHaveLength(8)
  expect(gone).toContain(many[6]!)
  // A reader that caught up counts no more.
  for (const client of many) connections.drained(client.number)
  const next = connect()
  next.full = true
  connections.send([text, next.number])
  expect(next.code).toBe(0)
})

test('one message goes to several connections, in order', () => {
  const { connections, connect } = openConnections()
  const [a, b] = [connect(), connect()]
  connections.send(['1', a.number, b.number, '2', b.number, '3', 999])
  expect([a.received, b.received]).toEqual([['1'], ['1', '2']])
})

test('when the relay thread is gone every client is told to reconnect', () => {
  const { connections, connect } = openConnections()
  const [a, b] = [connect(), connect()]
  connections.drop(a.number, 'reads too slowly')
  connections.closeAll()
  expect([a.code, b.code]).toEqual([1008, 1012])
})

function openReaders(count: number) {
  const roomy: number[] = []
  const readers = createReaders({
    send: () => undefined,
    hasRoomAgain: (connection) => roomy.push(connection),
  })
  for (let connection = 1; connection <= count; connection++) readers.open(connection)
  return { readers, roomy }
}

test('queries wait while too much is unread, and go on once it was read', () => {
  const { readers, roomy } = openReaders(1)
  readers.send([1], 'x'.repeat(limits.relayUnreadPauseChars + 1))
  expect(readers.hasRoom(1)).toBe(false)
  readers.flushed(1, 1)
  expect([readers.hasRoom(1), roomy]).toEqual([true, [1]])
})
