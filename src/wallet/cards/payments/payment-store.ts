import { bytesOf, hexOf } from '../../../base/bytes.ts'
import type { RefusalCode } from '../../../base/refusal.ts'
import type { Sql } from '../../../db/sql.ts'
import { k1HashOf } from '../scan-store.ts'

/** A payment that was asked for with a k1, and its state. */
export type Payment = {
  id: number
  cardId: number
  recipient: string
  amounts: Map<string, bigint>
  /** Null where no start event was made. */
  startId: string | null
  state: 'pending' | 'settled' | 'refused' | 'released'
  code: RefusalCode | null
  /** The ledger's reason. */
  message: string | null
  late: boolean
  createdAt: number
  expiresAt: number
  endedAt: number | null
}

type Asked = {
  k1: string
  request: string
  cardId: number
  /** The holder of the card, in hex. */
  holder: string
  recipient: string
  amounts: ReadonlyMap<string, bigint>
  paymentHash: string | null
}

/** Unix seconds. */
type Spending = { cardId: number; holder: string; token: string; since: number }

type PaymentRow = {
  id: number
  card_id: number
  recipient: Uint8Array
  amounts: string
  start_id: Uint8Array | null
  state: Payment['state']
  code: RefusalCode | null
  message: string | null
  late: number
  created_at: number
  expires_at: number
  ended_at: number | null
}

const columns =
  'id, card_id, recipient, amounts, start_id, state, code, message, late, created_at, expires_at, ended_at'

export type PaymentStore = ReturnType<typeof createPaymentStore>

/** Payments by card, and the amounts that count against its limits; on one connection. */
export function createPaymentStore(sql: Sql) {
  const byId = sql.query<PaymentRow, [number]>(`SELECT ${columns} FROM card_payments WHERE id = ?`)
  const byRequest = sql.query<PaymentRow, [Uint8Array, Uint8Array]>(
    `SELECT ${columns} FROM card_payments WHERE k1_hash = ? AND request = ?`,
  )
  // At most one payment of a k1 holds money; it goes before those that were refused.
  const byK1 = sql.query<PaymentRow, [Uint8Array]>(
    `SELECT ${columns} FROM card_payments WHERE k1_hash = ?
     ORDER BY CASE state WHEN 'settled' THEN 0 WHEN 'pending' THEN 1 ELSE 2 END, id DESC LIMIT 1`,
  )
  const byStart = sql.query<PaymentRow, [Uint8Array, Uint8Array]>(
    `SELECT ${columns} FROM card_payments WHERE start_id = ? AND ledger = ?`,
  )
  const refusals = sql.query<{ n: number }, [Uint8Array]>(
    "SELECT count(*) AS n FROM card_payments WHERE k1_hash = ? AND state = 'refused'",
  )
  const invoiceTaken = sql.query<{ id: number }, [Uint8Array]>(
    `SELECT id FROM card_payments
     WHERE payment_hash = ? AND state IN ('pending', 'settled') LIMIT 1`,
  )
  const insert = sql.query<
    { id: number },
    [
      Uint8Array,
      Uint8Array,
      number,
      Uint8Array,
      string,
      Uint8Array | null,
      Uint8Array | null,
      Uint8Array | null,
      Payment['state'],
      string | null,
      string | null,
      number,
      number,
      number | null,
    ]
  >(
    `INSERT INTO card_payments (k1_hash, request, card_id, recipient, amounts, payment_hash, start_id,
       ledger, state, code, message, created_at, expires_at, ended_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
  )
  const insertSpend = sql.query<null, [number, number, Uint8Array, string, bigint, number]>(
    `INSERT INTO card_spends (payment_id, card_id, holder, token, amount, at, counts)
     VALUES (?, ?, ?, ?, ?, ?, 1)`,
  )
  // In two halves: the sum of many amounts may be more than 64 bits hold.
  const spent = sql.query<{ high: number; low: number }, [number, Uint8Array, string, number]>(
    `SELECT CAST(coalesce(sum(amount >> 32), 0) AS BIGINT) AS high,
       CAST(coalesce(sum(amount & 4294967295), 0) AS BIGINT) AS low
     FROM card_spends WHERE card_id = ? AND holder = ? AND token = ? AND at > ? AND counts = 1`,
  )
  const end = sql.query<
    null,
    [Payment['state'], string | null, string | null, number, number, number]
  >(
    'UPDATE card_payments SET state = ?, code = ?, message = ?, late = ?, ended_at = ? WHERE id = ?',
  )
  const count = sql.query<null, [number, number]>(
    'UPDATE card_spends SET counts = ? WHERE payment_id = ?',
  )
  const overdue = sql.query<{ id: number }, [number, number]>(
    `SELECT id FROM card_payments
     WHERE state = 'pending' AND expires_at <= ? ORDER BY expires_at LIMIT ?`,
  )
  const open = sql.query<{ start_id: Uint8Array }, [number]>(
    `SELECT start_id FROM card_payments
     WHERE state = 'pending' AND expires_at > 0 ORDER BY expires_at LIMIT ?`,
  )
  const k1Of = sql.query<{ k1_hash: Uint8Array }, [number]>(
    'SELECT k1_hash FROM card_payments WHERE id = ?',
  )
  const useScan = sql.query<null, [Uint8Array]>(
    "UPDATE card_scans SET state = 'used' WHERE k1_hash = ?",
  )
  // Not when a late answer has settled another payment with it.
  const freeScan = sql.query<null, [Uint8Array]>(
    `UPDATE card_scans SET state = 'free' WHERE k1_hash = ?1 AND state = 'in-flight' AND NOT EXISTS
       (SELECT 1 FROM card_payments WHERE k1_hash = ?1 AND state = 'settled')`,
  )

  const find = async (id: number): Promise<Payment> => {
    const row = await byId.get(id)
    if (!row) throw new Error('a payment is gone')
    return toPayment(row)
  }

  const add = async (
    asked: Asked,
    start: { id: string; ledger: string } | null,
    outcome: Pick<Payment, 'state' | 'code' | 'message' | 'createdAt' | 'expiresAt'>,
  ): Promise<Payment> => {
    const { k1, request, cardId, recipient, amounts, paymentHash } = asked
    const { state, code, message, createdAt, expiresAt } = outcome
    const texts = [...amounts].map(([token, amount]) => [token, String(amount)])
    const row = await insert.get(
      k1HashOf(k1),
      bytesOf(request),
      cardId,
      bytesOf(recipient),
      JSON.stringify(Object.fromEntries(texts)),
      paymentHash === null ? null : bytesOf(paymentHash),
      start && bytesOf(start.id),
      start && bytesOf(start.ledger),
      state,
      code,
      message,
      createdAt,
      expiresAt,
      state === 'pending' ? null : createdAt,
    )
    if (!row) throw new Error('the payment was not inserted')
    return find(row.id)
  }

  return {
    /** The payment of this request, or null when the request is new. */
    async find(k1: string, request: string): Promise<Payment | null> {
      return orNull(await byRequest.get(k1HashOf(k1), bytesOf(request)))
    },

    async findById(id: number): Promise<Payment> {
      return find(id)
    },

    /** The payment of a k1 that holds money, else the last one; null when nobody paid with it. */
    async findByK1(k1: string): Promise<Payment | null> {
      return orNull(await byK1.get(k1HashOf(k1)))
    },

    /** The payment of a start event that names this ledger. */
    async findByStart(startId: string, ledger: string): Promise<Payment | null> {
      return orNull(await byStart.get(bytesOf(startId), bytesOf(ledger)))
    },

    /** The number of payments with this k1 that were refused. */
    async refusals(k1: string): Promise<number> {
      return (await refusals.get(k1HashOf(k1)))?.n ?? 0
    },

    /** True when a card has paid, or is about to pay, the invoice of this hash. */
    async invoiceTaken(paymentHash: string): Promise<boolean> {
      return (await invoiceTaken.get(bytesOf(paymentHash))) !== null
    },

    /** Write a reservation, or a payment that the same transaction settles; its amounts count from now on. */
    async insert(
      asked: Asked,
      start: { id: string; ledger: string; expiresAt: number },
      { state, now }: { state: 'pending' | 'settled'; now: number },
    ): Promise<Payment> {
      const { expiresAt } = start
      const outcome = { state, code: null, message: null, createdAt: now, expiresAt }
      const payment = await add(asked, start, outcome)
      for (const [token, amount] of asked.amounts) {
        insertSpend.run(payment.id, asked.cardId, bytesOf(asked.holder), token, amount, now)
      }
      return payment
    },

    /** Write down why a payment could not even be reserved. */
    async insertRefused(
      asked: Asked,
      { code, message, now }: { code: RefusalCode; message: string | null; now: number },
    ): Promise<Payment> {
      return add(asked, null, { state: 'refused', code, message, createdAt: now, expiresAt: now })
    },

    /** The sum that counts against a card's limits of a token: payments by this holder after `since`. */
    async spent({ cardId, holder, token, since }: Spending): Promise<bigint> {
      const sum = await spent.get(cardId, bytesOf(holder), token, since)
      const { high, low } = sum ?? { high: 0, low: 0 }
      return (BigInt(high) << 32n) + BigInt(low)
    },

    /** End a payment: its amounts count or no longer count, and its k1 is used or free. */
    async end(
      id: number,
      outcome: Pick<Payment, 'state' | 'code' | 'message' | 'late'>,
      now: number,
    ): Promise<Payment> {
      const { state, code, message, late } = outcome
      const settled = state === 'settled'
      const held = (await find(id)).state === 'pending'
      end.run(state, code, message, late ? 1 : 0, now, id)
      count.run(settled ? 1 : 0, id)
      const k1 = await k1Of.get(id)
      if (k1 && settled) useScan.run(k1.k1_hash)
      else if (k1 && held) freeScan.run(k1.k1_hash)
      return find(id)
    },

    /** Up to `most` reservations whose start event expired by `before`. */
    async overdue(before: number, most: number): Promise<number[]> {
      return (await overdue.all(before, most)).map(({ id }) => id)
    },

    /** The start events that wait for a ledger's answer. */
    async open(most: number): Promise<string[]> {
      return (await open.all(most)).map(({ start_id }) => hexOf(start_id))
    },
  }
}

function orNull(row: PaymentRow | null): Payment | null {
  return row && toPayment(row)
}

function toPayment(row: PaymentRow): Payment {
  const amounts = Object.entries(JSON.parse(row.amounts) as Record<string, string>)
  return {
    id: row.id,
    cardId: row.card_id,
    recipient: hexOf(row.recipient),
    amounts: new Map(amounts.map(([token, amount]) => [token, BigInt(amount)])),
    startId: row.start_id && hexOf(row.start_id),
    state: row.state,
    code: row.code,
    message: row.message,
    late: row.late === 1,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    endedAt: row.ended_at,
  }
}
