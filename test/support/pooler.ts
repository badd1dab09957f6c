/** A pooler in front of PostgreSQL, on a Unix socket of its own. */
import { mkdtempSync, rmSync } from 'node:fs'
import { createConnection, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export type Pooler = {
  /** The directory of its socket. */
  socket: string
  stop(): void
}

/** The session of the server that works for a client. */
type Session = { stream: Socket; told: (bytes: Buffer, idle: boolean) => void }

const file = '.s.PGSQL.5432'

/**
 * Start a pooler in front of the server with a socket in `socket`. In transaction mode a client has a session of the
 * server from its first message to the end of the transaction, and gives it to the next client then.
 */
export function startPooler(socket: string, mode: 'session' | 'transaction'): Pooler {
  const home = mkdtempSync(join(tmpdir(), 'cuponera-test-pooler-'))
  const idle: Session[] = []
  const streams = new Set<Socket>()
  const open = (startup: Buffer): Session => {
    const stream = createConnection(join(socket, file))
    const session: Session = { stream, told: () => undefined }
    streams.add(stream)
    stream.on('error', () => undefined)
    eachMessage(stream, 1, (type, bytes) => {
      session.told(bytes, type === 'Z' && bytes.at(-1) === 'I'.charCodeAt(0))
    })
    stream.write(startup)
    return session
  }
  const server: Server = createServer((client) => {
    streams.add(client)
    client.on('error', () => undefined)
    let startup: Buffer | null = null
    let session: Session | null = null
    /** Messages that the server answers with "ready". */
    let owed = 0
    const lend = (lent: Session) => {
      session = lent
      lent.told = (bytes, ended) => {
        client.write(bytes)
        if (bytes[0] === 'Z'.charCodeAt(0)) owed--
        if (!ended || owed > 0 || mode === 'session') return
        session = null
        lent.told = () => undefined
        idle.push(lent)
      }
    }
    /** Messages for a session that is not greeted yet. */
    let waiting: Buffer[] | null = null
    /** Another session of the server. Its greeting is not for the client, which had one before. */
    const lendNew = (begun: Buffer) => {
      const fresh = open(begun)
      waiting = []
      session = fresh
      fresh.told = (_, ready) => {
        if (!ready) return
        lend(fresh)
        for (const bytes of waiting ?? []) fresh.stream.write(bytes)
        waiting = null
      }
    }
    eachMessage(client, 0, (type, bytes) => {
      if (startup === null) {
        startup = bytes
        owed = 1
        lend(open(bytes))
        return
      }
      if (type === 'X' && mode === 'transaction') return
      if (type === 'S' || type === 'Q') owed++
      if (session === null) {
        const known = idle.pop()
        if (known) lend(known)
        else lendNew(startup)
      }
      if (waiting === null) session?.stream.write(bytes)
      else waiting.push(bytes)
    })
    client.on('close', () => session?.stream.destroy())
  })
  server.listen(join(home, file))
  return {
    socket: home,
    stop() {
      server.close()
      for (const stream of streams) stream.destroy()
      rmSync(home, { recursive: true, force: true })
    },
  }
}

/** Call `told` with each message of a stream. The first `bare` messages of a client have no type. */
function eachMessage(
  stream: Socket,
  typedFrom: 0 | 1,
  told: (type: string, bytes: Buffer) => void,
): void {
  let bare = typedFrom === 0
  let left = Buffer.alloc(0)
  stream.on('data', (bytes: Buffer) => {
    left = Buffer.concat([left, bytes])
    for (;;) {
      const head = bare ? 0 : 1
      if (left.length < head + 4) return
      const length = head + left.readUInt32BE(head)
      if (left.length < length) return
      const message = left.subarray(0, length)
      left = left.subarray(length)
      told(bare ? '' : String.fromCharCode(message[0] ?? 0), message)
      bare = false
    }
  })
}
