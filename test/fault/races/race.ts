/** Parts of races: their requests, and the judgement of their answers. */
import type { newSigner } from '../../support/client.ts'
import type { RaceAnswer, RaceRequest } from '../../support/race.ts'
import type { Holder } from '../../support/shops.ts'

export type Facts = {
  /** The addresses of the nodes, and the first of them. */
  bases: readonly string[]
  base: string
  /** Processes that race, and how many requests each sends in one race. */
  processes: number
  each: number
  /** A merchant with a coupon. */
  signer: ReturnType<typeof newSigner>
  token: string
  couponId: string
  /** Sessions of other keys, one for each request. */
  takers: readonly string[]
  /** Names that take vouchers. */
  holders: readonly Holder[]
  /** A command of the operator, at any of the nodes. */
  operate(command: string, body: unknown): Promise<unknown>
}

/** A race: the requests of every process by its number, and the judgement of the answers. */
export type Race = {
  prepare: (facts: Facts) => Promise<{
    send: (process: number, at: number) => RaceRequest
    /** It runs at the same time. */
    beside?: () => Promise<unknown>
    judge: (answers: RaceAnswer[], facts: Facts) => Promise<string[]> | string[]
  }>
}

export function refreshRequest(nonce: string, key: string): RaceRequest {
  return { path: '/api/coupons/refresh', body: { nonce }, headers: { 'Idempotency-Key': key } }
}

export function claimRequest(nonce: string): RaceRequest {
  return { path: '/api/coupons/claim', body: { nonce } }
}

export function mintRequest(token: string, body: unknown): RaceRequest {
  return { path: '/api/coupons/mint', body, headers: bearer(token) }
}

export function bearer(token: string): Record<string, string> {
  return { Authorization: `Bearer ${token}` }
}

export function expect(problem: string, holds: boolean): string[] {
  return holds ? [] : [problem]
}

/** So many answers of each status, and none of any other. */
export function counts(answers: RaceAnswer[], wanted: Record<number, number>): string[] {
  const found: Record<number, number> = {}
  for (const { status } of answers) found[status] = (found[status] ?? 0) + 1
  const holds = Bun.deepEquals(found, wanted)
  return expect(`${JSON.stringify(found)}, wanted ${JSON.stringify(wanted)}`, holds)
}

export function codes(answers: RaceAnswer[], status: number, code: string): string[] {
  const others = answers.filter((one) => one.status === status && !one.text.includes(`"${code}"`))
  return others.map(({ text }) => `${status} with ${text}`)
}
