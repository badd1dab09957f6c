import { expect } from 'bun:test'
import type { Answer } from './client.ts'

/** Check a refusal in the envelope of the gateway and of LUD-06: `{ status: 'ERROR', reason, code }`. */
export function expectError(answer: Answer, status: number, code: string, field?: string): void {
  const { reason, retryAfter, ...rest } = answer.json
  const body = { status: 'ERROR', code, ...(field !== undefined && { field }) }
  expect({ status: answer.status, body: rest }).toEqual({ status, body })
  expect(reason).toMatch(/^\S.*\.$/)
  const wait = retryAfter === undefined ? null : String(retryAfter)
  expect(answer.headers.get('retry-after')).toBe(wait)
  expect(answer.headers.get('access-control-allow-origin')).toBe('*')
}
