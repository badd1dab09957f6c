import { bytesOf, hexOf } from '../../base/bytes.ts'
import type { Sql } from '../../db/sql.ts'

/** Names a voucher by the service that signed it and the handle of its nonce. */
export type VoucherRef = { service: string; handle: Uint8Array }

/** A swap at another service that is under way. */
export type Intent = VoucherRef & {
  id: number
  holder: string
  sealed: Uint8Array
  /** Attempts that began after the first one. */
  attempts: number
  createdAt: number
}

type NewIntent = Omit<Intent, 'id' | 'attempts'> & { owner: string; nextAt: number }
type NewTransfer = VoucherRef & { replacement: Uint8Array; holder: string; now: number }

type IntentRow = {
  id: number
  service: Uint8Array
  handle: Uint8Array
  holder: Uint8Array
  sealed: Uint8Array
  attempts: number
  created_at: number
}

/** Swaps under way at a service. */
export type OpenTransfers = {
  service: string
  open: number
  /** Arrival of the oldest, and due time of the next; Unix seconds. */
  oldestAt: number
  nextAt: number
}

const columns = 'id, service, handle, holder, sealed, attempts, created_at'

export type TransferStore = ReturnType<typeof createTransferStore>

/** Transfers that came in, finished and under way; on one connection. */
export function createTransferStore(sql: Sql) {
  const find = sql.query<{ holder: Uint8Array }, [Uint8Array, Uint8Array]>(
    'SELECT holder FROM transfers WHERE handle = ? AND service = ?',
  )
  const findReplacement = sql.query<{ id: number }, [Uint8Array, Uint8Array]>(
    'SELECT id FROM transfers WHERE replacement = ? AND service = ?',
  )
  const insert = sql.query<
    { id: number },
    [Uint8Array, Uint8Array, Uint8Array, Uint8Array, number]
  >(
    `INSERT INTO transfers (service, handle, replacement, holder, received_at)
     VALUES (?, ?, ?, ?, ?) RETURNING id`,
  )
  const findIntent = sql.query<IntentRow, [Uint8Array, Uint8Array]>(
    `SELECT ${columns} FROM transfer_intents WHERE handle = ? AND service = ?`,
  )
  const findIntentById = sql.query<IntentRow, [number]>(
    `SELECT ${columns} FROM transfer_intents WHERE id = ?`,
  )
  const insertIntent = sql.query<
    { id: number },
    [Uint8Array, Uint8Array, Uint8Array, Uint8Array, Uint8Array, number, number]
  >(
    `INSERT INTO transfer_intents (service, handle, holder, owner, sealed, next_at, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING id`,
  )
  const removeIntent = sql.query<null, [number]>('DELETE FROM transfer_intents WHERE id = ?')
  const removeUnrepeated = sql.query<null, [number]>(
    'DELETE FROM transfer_intents WHERE id = ? AND attempts = 0',
  )
  const repeatIntent = sql.query<IntentRow, [number]>(
    `UPDATE transfer_intents SET attempts = attempts + 1 WHERE id = ? RETURNING ${columns}`,
  )
  const postpone = sql.query<null, [number, number]>(
    'UPDATE transfer_intents SET next_at = ? WHERE id = ?',
  )
  const makeAllDue = sql.query<null, [number]>(
    'UPDATE transfer_intents SET next_at = ?1 WHERE next_at > ?1',
  )
  const due = sql.query<IntentRow, [Uint8Array, number, number]>(
    `SELECT ${columns} FROM transfer_intents WHERE service = ? AND next_at <= ?
     ORDER BY next_at, id LIMIT ?`,
  )
  // Steps from one service to the next along the index, without reading the rows between.
  const open = sql.query<
    { service: Uint8Array; rows: number; oldest_at: number; next_at: number },
    [Uint8Array]
  >(
    `WITH RECURSIVE services (service) AS (
       SELECT (SELECT i.service FROM transfer_intents i WHERE i.service > ?
               ORDER BY i.service LIMIT 1)
       UNION ALL
       SELECT (SELECT i.service FROM transfer_intents i WHERE i.service > services.service
               ORDER BY i.service LIMIT 1)
       FROM services WHERE services.service IS NOT NULL)
     SELECT service,
       (SELECT count(*) FROM transfer_intents i WHERE i.service = services.service) AS rows,
       (SELECT min(created_at) FROM transfer_intents i WHERE i.service = services.service) AS oldest_at,
       (SELECT min(next_at) FROM transfer_intents i WHERE i.service = services.service) AS next_at
     FROM services WHERE service IS NOT NULL`,
  )
  const countFor = sql.query<
    { all_owners: number; of_owner: number },
    [Uint8Array, Uint8Array, number]
  >(
    `SELECT count(*) AS all_owners, count(CASE WHEN owner = ?2 THEN 1 END) AS of_owner
     FROM transfer_intents WHERE holder = ?1 AND created_at >= ?3`,
  )
  const countAt = sql.query<{ rows: number }, [Uint8Array]>(
    'SELECT count(*) AS rows FROM transfer_intents WHERE service = ?',
  )

  return {
    /** The holder that got a voucher; null when it never came. */
    async holderOf({ service, handle }: VoucherRef): Promise<string | null> {
      const row = await find.get(handle, bytesOf(service))
      return row && hexOf(row.holder)
    },

    /** True when a service has given out this replacement before. */
    async hasReplacement({ service, handle }: VoucherRef): Promise<boolean> {
      return (await findReplacement.get(handle, bytesOf(service))) !== null
    },

    /** Store a finished transfer; the result is its row id. */
    async insert({ service, handle, replacement, holder, now }: NewTransfer): Promise<number> {
      const row = await insert.get(bytesOf(service), handle, replacement, bytesOf(holder), now)
      if (!row) throw new Error('the transfer was not inserted')
      return row.id
    },

    async findIntent({ service, handle }: VoucherRef): Promise<Intent | null> {
      const row = await findIntent.get(handle, bytesOf(service))
      return row && toIntent(row)
    },

    async findIntentById(id: number): Promise<Intent | null> {
      const row = await findIntentById.get(id)
      return row && toIntent(row)
    },

    async insertIntent(intent: NewIntent): Promise<number> {
      const { service, handle, holder, owner, sealed, nextAt: at, createdAt } = intent
      const row = await insertIntent.get(
        bytesOf(service),
        handle,
        bytesOf(holder),
        bytesOf(owner),
        sealed,
        at,
        createdAt,
      )
      if (!row) throw new Error('the intent was not inserted')
      return row.id
    },

    /** Delete an intent; false when it had ended before. */
    async removeIntent(id: number): Promise<boolean> {
      return (await removeIntent.changes(id)) === 1
    },

    /** Delete an intent that has had its first attempt alone; false when it had another one, or has ended. */
    async removeUnrepeated(id: number): Promise<boolean> {
      return (await removeUnrepeated.changes(id)) === 1
    },

    /** Count one attempt more of an intent; null when it has ended. */
    async repeatIntent(id: number): Promise<Intent | null> {
      const row = await repeatIntent.get(id)
      return row && toIntent(row)
    },

    /** The next attempt is at `at`. */
    async postpone(id: number, at: number): Promise<void> {
      postpone.run(at, id)
    },

    /** Make every intent due: a stopped process may have left them. */
    async makeAllDue(now: number): Promise<void> {
      makeAllDue.run(now)
    },

    /** Up to `most` of a service's that are due, the longest due first. */
    async due(service: string, now: number, most: number): Promise<Intent[]> {
      return (await due.all(bytesOf(service), now, most)).map(toIntent)
    },

    /** Swaps under way, by service. */
    async open(): Promise<OpenTransfers[]> {
      return (await open.all(new Uint8Array())).map(
        ({ service, rows, oldest_at: oldestAt, next_at: nextAt }) => {
          return { service: hexOf(service), open: rows, oldestAt, nextAt }
        },
      )
    },

    /** Numbers of swaps since then that are under way for a holder: all, and of one merchant. */
    async countFor(
      holder: string,
      owner: string,
      since: number,
    ): Promise<{ all: number; ofOwner: number }> {
      const row = await countFor.get(bytesOf(holder), bytesOf(owner), since)
      return { all: row?.all_owners ?? 0, ofOwner: row?.of_owner ?? 0 }
    },

    /** The number under way at a service, at most `intentsPerServiceMax`. */
    async countAt(service: string): Promise<number> {
      return (await countAt.get(bytesOf(service)))?.rows ?? 0
    },
  }
}

function toIntent(row: IntentRow): Intent {
  return {
    id: row.id,
    service: hexOf(row.service),
    handle: row.handle,
    holder: hexOf(row.holder),
    sealed: row.sealed,
    attempts: row.attempts,
    createdAt: row.created_at,
  }
}
