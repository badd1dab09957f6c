import { createHash, randomBytes } from 'node:crypto'
import { openSchnorr } from '../../src/crypto/schnorr.ts'
import { createSigner, createVerifier } from '../../src/crypto/sign-event.ts'
import type { NostrEvent, Signer } from '../../src/nostr/event.ts'
import { secondsNow } from './clock.ts'

const engine = openSchnorr()

/** Verifies any event, with the engine of this machine. */
export const verifyEvent = createVerifier(engine)

/** A fresh key that can sign. */
export function newSigner(secret: Uint8Array = randomBytes(32)): Signer {
  return createSigner(engine, secret)
}

export function sha256Hex(text: string | Uint8Array): string {
  return createHash('sha256').update(text).digest('hex')
}

export type ProofOptions = {
  method?: string
  createdAt?: number
  kind?: number
  tags?: string[][]
  body?: string | Uint8Array
}

/** A signed NIP-98 event for a request, unique by its nonce tag. */
export function createProof(signer: Signer, url: string, options: ProofOptions = {}): NostrEvent {
  const tags = options.tags ?? [
    ['u', url],
    ['method', options.method ?? 'GET'],
    ['nonce', randomBytes(8).toString('hex')],
    ...(options.body === undefined ? [] : [['payload', sha256Hex(options.body)]]),
  ]
  return signer.sign({
    kind: options.kind ?? 27_235,
    created_at: options.createdAt ?? secondsNow(),
    tags,
    content: '',
  })
}

/** The value of an Authorization header for an event. */
export function nostrHeader(event: unknown): string {
  return `Nostr ${Buffer.from(JSON.stringify(event)).toString('base64')}`
}

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into by tests, whatever they are
export type Json = any

export type Answer = { status: number; headers: Headers; text: string; json: Json }

export type CallOptions = {
  method?: string
  /** A value is sent as JSON, a string or bytes as they stand. */
  body?: unknown
  headers?: Record<string, string>
  /** Signs the request with NIP-98. */
  signer?: Signer
  /** Sends a session token. */
  token?: string
}

/** One HTTP request against a server; the answer with its body read. */
export async function call(base: string, path: string, options: CallOptions = {}): Promise<Answer> {
  const { method, headers, body } = requestOf(base, path, options)
  const sent = (body as BodyInit | undefined) ?? null
  return read(await fetch(`${base}${path}`, { method, headers, body: sent, redirect: 'manual' }))
}

/** The request of these options as it is sent: the body as text or bytes, all headers. */
export function requestOf(base: string, path: string, options: CallOptions) {
  const { body, signer, token } = options
  const method = options.method ?? (body === undefined ? 'GET' : 'POST')
  const asIs = body === undefined || typeof body === 'string' || body instanceof Uint8Array
  const text = asIs ? body : JSON.stringify(body)
  const headers: Record<string, string> = { ...options.headers }
  if (text !== undefined) headers['Content-Type'] ??= 'application/json'
  if (signer) {
    const proof = { method, ...(text === undefined ? {} : { body: text }) }
    headers.Authorization ??= nostrHeader(createProof(signer, `${base}${path}`, proof))
  }
  if (token) headers.Authorization ??= `Bearer ${token}`
  return { method, headers, body: text }
}

async function read(response: Response): Promise<Answer> {
  const text = await response.text()
  let json: Json
  try {
    json = JSON.parse(text)
  } catch {
    json = undefined
  }
  return { status: response.status, headers: response.headers, text, json }
}

/** Open a session for a key; its token. `origin`: where the service is known, if it listens elsewhere. */
export async function openSession(base: string, signer: Signer, origin = base): Promise<string> {
  const path = '/api/auth/session'
  const proof = createProof(signer, `${origin}${path}`, { method: 'POST', body: '{}' })
  const { json } = await call(base, path, {
    body: '{}',
    headers: { Authorization: nostrHeader(proof) },
  })
  return json.token
}

export const percentBenefit = { type: 'percent', percent: 10 }

/** Create a definition and give its id. */
export async function createDefinition(
  base: string,
  token: string,
  fields: Record<string, unknown> = {},
): Promise<string> {
  const body = { name: 'Café gratis', benefit: percentBenefit, ...fields }
  const { json } = await call(base, '/api/coupons', { body, token })
  return json.coupon.id
}

/** Mint one voucher; the voucher result. */
export async function mintOne(base: string, token: string, couponId: string): Promise<Json> {
  return (await call(base, '/api/coupons/mint', { body: { couponId }, token })).json
}

/** An Idempotency-Key nobody can guess. */
export function newKey(): string {
  return randomBytes(18).toString('base64url')
}

/** The options of a request under an Idempotency-Key. */
export function withKey(key = newKey()): CallOptions {
  return { headers: { 'Idempotency-Key': key } }
}
