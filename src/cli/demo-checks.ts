import { isDeepStrictEqual } from 'node:util'
import { systemClock } from '../base/clock.ts'
import { nonceShaped } from '../coupons/nonce.ts'
import type { VerifyEvent } from '../nostr/event.ts'
import { kinds } from '../nostr/kinds.ts'

/** The server broke the protocol. The message has the expected and the actual value. */
export class DemoFailure extends Error {}

// biome-ignore lint/suspicious/noExplicitAny: an answer is untrusted until the demo has compared it
export type Json = any

export type Reply = {
  status: number
  text: string
  json: Json
  /** True if an earlier attempt, which may have been executed, got no answer. */
  repeated: boolean
  /** The Authorization header of the attempt that was answered. */
  authorization: string | undefined
}

/** Allowed difference between the clocks of two machines, network delay included. */
const clockSlackSeconds = 120
/** Check the status and return the body. Throws DemoFailure with the server's message. */
export function expectGood(reply: Reply, status: number): Json {
  if (reply.status === status && isTree(reply.json)) return reply.json
  const said = reply.json?.code ? `: ${reply.json.code}, "${reply.json.error}"` : ''
  const hint =
    reply.json?.code === 'merchant-not-allowed'
      ? ' (the demo has a fresh key: run it where the server runs, with its DATA_DIR, and it is let in; elsewhere with MERCHANTS=open)'
      : ''
  throw new DemoFailure(`expected ${status}, the server answered ${reply.status}${said}${hint}`)
}

/** Check the answer of a request that makes something: 201, or 200 if an earlier attempt may have made it. */
export function expectMade(reply: Reply): Json {
  return expectGood(reply, reply.repeated && reply.status === 200 ? 200 : 201)
}

/** Check the answer of a DELETE. Null if `gone`, the code of a refusal, says that an earlier attempt did it. */
export function expectRemoved(reply: Reply, gone: string): Json | null {
  return reply.repeated && reply.json?.code === gone ? null : expectGood(reply, 200)
}

/** Check a refusal: status, code, reason (on 401), and a sentence for people. */
export function expectRefusal(reply: Reply, status: number, code: string, reason?: string): void {
  const { error, ...rest } = reply.json ?? {}
  expectEqual('the status', reply.status, status)
  expectEqual('the refusal', rest, reason === undefined ? { code } : { code, reason })
  if (typeof error !== 'string' || error === '')
    throw new DemoFailure('a refusal without a sentence')
}

/** Compare two JSON values, and throw at the first difference. The order of keys does not matter. */
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

/** A value for an error message, shortened. */
function show(value: unknown): string {
  const text = JSON.stringify(value) ?? 'absent'
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}

/** Check a time in Unix seconds, within `clockSlackSeconds`. */
export function expectNear(what: string, found: unknown, expected: number): void {
  const near = Number.isInteger(found) && Math.abs(Number(found) - expected) <= clockSlackSeconds
  if (!near) throw new DemoFailure(`${what} should be about ${expected}, but is ${String(found)}`)
}

type ExpectedVoucher = {
  manager: string
  owner: string
  /** Time of the claim. Undefined for a voucher in phase minted. */
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
 * Check a voucher result: exactly these fields, and an event of the manager with the right kind, tags, content
 * (byte for byte), time, id and signature.
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
