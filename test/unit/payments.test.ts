import { expect, test } from 'bun:test'
import { limits } from '../../src/base/limits.ts'
import type { Payment } from '../../src/wallet/cards/payments/payment-store.ts'
import { awaitOutcome, type Payments } from '../../src/wallet/cards/payments/payments.ts'

const pending: Payment = {
  id: 1,
  cardId: 1,
  recipient: 'ab'.repeat(32),
  amounts: new Map([['ARS', 1n]]),
  startId: 'cd'.repeat(32),
  state: 'pending',
  code: null,
  message: null,
  late: false,
  createdAt: 1,
  expiresAt: 61,
  endedAt: null,
}

/** A service whose clock goes on while somebody waits, and whose ledger answers after so many seconds. */
function createPayments(answerSeconds: number, stopped = () => false) {
  let ms = 0
  const waits: number[] = []
  const payments = {
    steady: () => ms,
    waiting: {
      stopped,
      async answered(_: string, seconds: number) {
        waits.push(seconds)
        ms += seconds * 1000
      },
    },
    database: {
      snapshot: async () =>
        ms >= answerSeconds * 1000 ? { ...pending, state: 'settled', endedAt: 9 } : pending,
    },
  } as unknown as Payments
  return { payments, waits }
}

test('a payment waits for the answer of a ledger elsewhere', async () => {
  const { payments } = createPayments(3)
  expect((await awaitOutcome(payments, pending)).state).toBe('settled')
})

test('a payment without an answer for twenty seconds is still pending', async () => {
  const { payments, waits } = createPayments(1000)
  expect((await awaitOutcome(payments, pending)).state).toBe('pending')
  expect(waits.reduce((sum, seconds) => sum + seconds, 0)).toBe(limits.paymentWaitSeconds)
})

test('no request waits for an ended payment, nor while the service stops', async () => {
  const ended = createPayments(0)
  await awaitOutcome(ended.payments, { ...pending, state: 'refused', code: 'ledger-refused' })
  const stopping = createPayments(1000, () => true)
  await awaitOutcome(stopping.payments, pending)
  expect([...ended.waits, ...stopping.waits]).toEqual([])
})
