import { randomBytes } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { createServer } from 'node:tls'
import { decrypt, getConversationKey } from 'nostr-tools/nip44'
import type { NostrEvent, Signer } from '../../src/nostr/event.ts'
import { npubOf } from '../../src/nostr/keys.ts'
import { shopCertificate } from './certificates.ts'
import { call, type Json, newSigner } from './client.ts'
import { secondsNow } from './clock.ts'
import { databaseOf } from './database.ts'
import { loopbackProgram } from './program.ts'
import { newDirectory, startServer, type TestServer } from './server.ts'

/** A TLS door on 127.0.0.1 in front of a server that may be killed and come back elsewhere. */
export type Front = {
  port: number
  /** Where connections go now. */
  target: string
  /** The reaction to bytes that come back; null: they are passed on. */
  back: ((bytes: Buffer, socket: Socket) => void) | null
  /** Told of every connection, before the handshake. */
  connected: () => void
  close(): void
}

export function openFront(): Promise<Front> {
  const open = new Set<Socket>()
  const server = createServer(shopCertificate, (socket) => {
    open.add(socket)
    const { port, hostname } = new URL(front.target)
    const inner = connect(Number(port), hostname)
    open.add(inner)
    const end = () => {
      socket.destroy()
      inner.destroy()
      open.delete(socket)
      open.delete(inner)
    }
    for (const one of [socket, inner]) one.on('error', end).on('close', end)
    socket.on('data', (bytes) => inner.write(bytes))
    inner.on('data', (bytes: Buffer) => {
      if (front.back) front.back(bytes, socket)
      else socket.write(bytes)
    })
  })
  server.on('connection', () => front.connected())
  server.on('tlsClientError', () => undefined)
  const front: Front = {
    port: 0,
    target: 'http://127.0.0.1:1',
    back: null,
    connected: () => undefined,
    close() {
      server.close()
      for (const socket of open) socket.destroy()
    },
  }
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const bound = server.address()
      if (typeof bound === 'object' && bound !== null) front.port = bound.port
      resolve(front)
    })
  })
}

/** A Cuponera with a name, behind TLS, that can reach the loopback. */
export type Shop = {
  host: string
  /** As others reach it. */
  url: string
  manager: string
  front: Front
  dataDir: string
  env: Record<string, string>
  server: TestServer
}

/** The data of a shop before it runs, so that others can know it. */
export async function planShop(name: 'shop.test' | 'localhost'): Promise<Omit<Shop, 'server'>> {
  const front = await openFront()
  const secret = randomBytes(32)
  const host = `${name}:${front.port}`
  const env = {
    PUBLIC_URL: `https://${host}`,
    MERCHANTS: 'open',
    COUPON_MANAGER_NSEC: secret.toString('hex'),
    RATE_LIMIT: 'off',
  }
  const manager = newSigner(secret).pubkey
  return { host, url: `https://${host}`, manager, front, dataDir: newDirectory(), env }
}

/** Start a planned shop, or start it again; `fault`: where it dies. */
export async function runShop(
  plan: Omit<Shop, 'server'>,
  {
    knows = [],
    fault = '',
  }: { knows?: readonly { manager: string; url: string }[]; fault?: string } = {},
): Promise<Shop> {
  const services = knows.map(({ manager, url }) => `${npubOf(manager)}|${url}/api/coupons/refresh`)
  if (services.length > 0) plan.env.VOUCHER_SERVICES = services.join(',')
  const { dataDir, env, front } = plan
  const server = await startServer({
    command: loopbackProgram,
    dataDir,
    env: { ...env, FAULT: fault },
  })
  front.target = server.url
  return Object.assign(plan, { server })
}

/** Give a key a name, as the operator would. */
export async function addAccount(dataDir: string, name: string, pubkey: string): Promise<void> {
  const key = Buffer.from(pubkey, 'hex')
  await databaseOf(dataDir).run(
    'INSERT INTO accounts (uuid, name, pubkey, created_by, created_at) VALUES (?, ?, ?, ?, ?)',
    ...[crypto.randomUUID(), name, key, key, secondsNow()],
  )
}

/** A holder who can open what was sealed for him. */
export type Holder = { name: string; signer: Signer; secret: Uint8Array }

export function newHolder(name: string): Holder {
  const secret = new Uint8Array(randomBytes(32))
  return { name, signer: newSigner(secret), secret }
}

/** The content of an inbox, opened by its holder. */
export async function openInbox(
  base: string,
  { signer, secret }: Holder,
  origin = base,
): Promise<(Json & { nonce: string; voucher: NostrEvent })[]> {
  const { json, status } = await callAs(base, origin, '/api/wallet/vouchers', { signer })
  if (status !== 200) throw new Error(`the inbox answered ${status}`)
  return json.vouchers.map((held: Json) => {
    const key = getConversationKey(secret, held.sealed.pubkey)
    return { ...held, ...JSON.parse(decrypt(held.sealed.payload, key)) }
  })
}

/** A signed request to where a server listens, signed for where it is known. */
export async function callAs(
  base: string,
  origin: string,
  path: string,
  options: Parameters<typeof call>[2] & { signer: Signer },
) {
  const { createProof, nostrHeader } = await import('./client.ts')
  const { signer, ...rest } = options
  const method = rest.method ?? (rest.body === undefined ? 'GET' : 'POST')
  const body = rest.body === undefined ? {} : { body: JSON.stringify(rest.body) }
  const proof = createProof(signer, `${origin}${path}`, { method, ...body })
  return call(base, path, { ...rest, headers: { Authorization: nostrHeader(proof) } })
}
