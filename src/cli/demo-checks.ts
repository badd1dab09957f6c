import { isDeepStrictEqual } from 'node:util'
import { systemClock } from '../base/clock.ts'
import { nonceShaped } from '../coupons/nonce.ts'
import type { VerifyEvent } from '../nostr/event.ts'
import { kinds } from '../nostr/kinds.ts'

/** The server did not do what the protocol says; the message tells what was expected and what came. */
export class DemoFailure extends Error {}

// biome-ignore lint/suspicious/noExplicitAny: an answer is untrusted until the demo has compared it
export type Json = any

export type Reply = { status: number; text: string; json: Json }

/** The clocks of two machines, and the way between them. */
const clockSlackSeconds = 120
/** The body of a good answer; anything else fails with the sentence the server gave. */
export function expectGood(reply: Reply, status: number): Json {
  if (reply.status === status && isTree(reply.json)) return reply.json
  const said = reply.json?.code ? `: ${reply.json.code}, "${reply.json.error}"` : ''
  const hint =
    reply.json?.code === 'merchant-not-allowed'
      ? ' (the demo has a fresh key: run it where the server runs, with its DATA_DIR, and it is let in; elsewhere with MERCHANTS=open)'
      : ''
  throw new DemoFailure(`expected ${status}, the server answered ${reply.status}${said}${hint}`)
}

/** A refusal with this status, code and (on 401) reason, and a sentence for people. */
export function expectRefusal(reply: Reply, status: number, code: string, reason?: string): void {
  const { error, ...rest } = reply.json ?? {}
  expectEqual('the status', reply.status, status)
  expectEqual('the refusal', rest, reason === undefined ? { code } : { code, reason })
  if (typeof error !== 'string' || error === '')
    throw new DemoFailure('a refusal without a sentence')
}

/** Fails at the first place where the two differ; the order of keys does not matter. */
export function expectEqual(what: string, found: unknown, expected: unknown): void {
  if (isDeepStrictEqual(found, expected)) return
  if (isTree(found) && isTree(expected) && Array.isArray(found) === Array.isArray(expected)) {
    for (const key of new Set([...Object.keys(expected), ...Object.keys(found)])) {
      expectEqual(`${what}.${key}`, found[key], expected[key])
    }
  }
  throw new DemoFailure(`${what} should be ${show(expected)}, but is ${show(found)}`)
}

function isTree(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? 'absent'
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}

/** A time in Unix seconds, give or take what two clocks differ. */
export function expectNear(what: string, found: unknown, expected: number): void {
  const near = Number.isInteger(found) && Math.abs(Number(found) - expected) <= clockSlackSeconds
  if (!near) throw new DemoFailure(`${what} should be about ${expected}, but is ${String(found)}`)
}

type ExpectedVoucher = {
  manager: string
  owner: string
  /** Absent: a voucher in phase minted. */
  claimedAt: number | undefined
  fields: {
    couponId: string
    coupon: unknown
    name: string
    description: string
    npub: string
    image: string
    nonce: string
    expiresAt: number
  }
}

/**
 * A voucher result with exactly these fields, and in it an event by the manager: kind, tags, content
 * byte for byte, time, id and signature.
 */
export function expectVoucher(found: Json, expected: ExpectedVoucher, verify: VerifyEvent): void {
  const { manager, owner, claimedAt, fields } = expected
  const { couponId, nonce, name, description, image, coupon, expiresAt } = fields
  if (!nonceShaped(nonce)) throw new DemoFailure('the nonce has not 22 characters')
  const { voucher, ...said } = found ?? {}
  expectEqual('the voucher result', said, fields)
  const { id, sig, created_at, ...event } = voucher ?? {}
  const phase = claimedAt === undefined ? 'minted' : 'claimed'
  const content = {
    v: 1,
    nonce,
    owner,
    name,
    description,
    image,
    coupon,
    phase,
    claimedAt,
    expiresAt,
  }
  expectEqual('the voucher event', event, {
    pubkey: manager,
    kind: kinds.voucher,
    tags: [
      ['nonce', nonce],
      ['p', owner],
      ['coupon', couponId],
      ['phase', phase],
      ['expiration', String(expiresAt)],
    ],
    content: JSON.stringify(content),
  })
  if (claimedAt === undefined) expectNear('created_at', created_at, systemClock())
  else expectEqual('created_at', created_at, claimedAt)
  if (!verify(voucher)) {
    throw new DemoFailure(`id or signature of the voucher event is wrong: id ${id}, sig ${sig}`)
  }
}
