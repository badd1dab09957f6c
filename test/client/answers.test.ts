/** The form of a good answer, by which the client tells it from the JSON of another server. */
import { expect, test } from 'bun:test'
import { fits } from '../../src/client/answer-form.ts'
import { facts } from '../../src/client/described/facts.ts'
import type { OperationName } from '../../src/client/described/operations.ts'
import { transfer } from '../../src/client/transfer.ts'
import { newAsk, type Told } from '../support/told-answers.ts'

const rows: [name: OperationName, status: number, value: unknown, fits: boolean][] = [
  ['POST /nostr/publish', 202, null, true],
  ['POST /nostr/publish', 200, null, false],
  ['POST /nostr/publish', 202, { ok: true }, false],
  ['PATCH /ntag424', 204, null, true],
  ['PATCH /ntag424', 200, {}, false],
  ['POST /nostr/fetch', 200, [], true],
  ['POST /nostr/fetch', 200, { status: 'ok' }, false],
  ['POST /card/pay', 200, { status: 'OK' }, true],
  ['POST /card/pay', 202, { status: 'PENDING' }, true],
  ['POST /card/pay', 200, { status: 'PENDING' }, false],
  ['POST /card/pay', 202, { status: 'OK' }, false],
  ['POST /card/pay', 200, { status: 'ok' }, false],
  ['POST /card/pay', 200, { status: 'success' }, false],
  ['GET /card/pay', 200, { status: 'ok' }, false],
  ['POST /api/transfer', 200, { status: 'SENT' }, true],
  ['POST /api/transfer', 200, { status: 'ok' }, false],
  ['POST /api/identity', 200, { success: true, id: 'x' }, true],
  ['POST /api/identity', 200, { success: false }, false],
  ['GET /card/scan', 200, { tag: 'withdrawRequest' }, true],
  ['GET /card/scan', 200, { tag: 'portal' }, false],
  ['POST /api/coupons/mint', 200, { nonce: 'x', voucher: {} }, true],
  ['POST /api/coupons/mint', 200, { nonce: 'x' }, false],
  ['POST /api/coupons/claim', 200, { nonce: 'x', status: 'claimed', voucher: {} }, true],
  ['POST /api/coupons/claim', 200, { nonce: 'x', status: 'ok', voucher: {} }, false],
  ['POST /api/coupons/claim', 200, { nonce: 'x', status: 'success' }, false],
  ['POST /api/coupons/mint', 200, { vouchers: [] }, true],
  ['POST /api/coupons/mint', 200, {}, false],
  ['POST /api/coupons/mint', 200, 'nonce', false],
]
test.each(rows)('%s: %i %j fits: %p', (name, status, value, expected) => {
  const [, ...forms] = facts[name]
  expect(fits(forms, { status, value })).toBe(expected)
})

const outcomes: [answer: Told, outcome: string][] = [
  [{ status: 200, body: { status: 'NOT_SENT' }, retryAfter: null }, 'not-sent'],
  [{ status: 429, body: { code: 'rate-limited' }, retryAfter: 3 }, 'refused'],
  [{ status: 400, body: { code: 'service-unknown' }, retryAfter: null }, 'refused'],
  [{ status: 404, body: { code: 'answer-invalid' }, retryAfter: null }, 'unknown'],
  [{ status: 413, body: { code: 'too-large' }, retryAfter: null }, 'refused'],
  [{ status: 403, body: {}, retryAfter: null }, 'unknown'],
  // A gateway, after it passed the transfer on.
  [{ status: 429, body: { code: 'quota' }, retryAfter: null }, 'unknown'],
  [{ status: 403, body: { code: 'blocked' }, retryAfter: null }, 'unknown'],
  [{ status: 404, body: { code: 'not-found' }, retryAfter: null }, 'unknown'],
  [{ status: 0, body: { code: 'unreachable' }, retryAfter: null }, 'unknown'],
  [{ status: 503, body: { code: 'unavailable' }, retryAfter: 2 }, 'unknown'],
]
test.each(outcomes)('a transfer that is answered %j is %s', async (answer, outcome) => {
  const sent = { nonce: 'x', voucher: null, to: 'ana@example', comment: '' }
  const ask = newAsk(() => ({ ...answer, body: { error: 'x', ...answer.body } }))
  expect((await transfer(ask, sent)).outcome as string).toBe(outcome)
})
