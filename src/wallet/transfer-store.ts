import type { Database as Sqlite } from 'bun:sqlite'

/** Which voucher: the service that signed it and the handle of its nonce. */
export type VoucherRef = { service: string; handle: Uint8Array }

/** A swap at another service that is under way. */
export type Intent = VoucherRef & {
  id: number
  holder: string
  sealed: Uint8Array
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

const columns = 'id, service, handle, holder, sealed, attempts, created_at'

export type TransferStore = ReturnType<typeof createTransferStore>

/** Transfers that came in, finished and under way; on one connection. */
export function createTransferStore(sql: Sqlite) {
  const find = sql.query<{ holder: Uint8Array }, [Uint8Array, Uint8Array]>(
    'SELECT holder FROM transfers WHERE handle = ? AND service = ?',
  )
  const findReplacement = sql.query<{ id: number }, [Uint8Array, Uint8Array]>(
    'SELECT id FROM transfers WHERE replacement = ? AND service = ?',
  )
  const insert = sql.query<null, [Uint8Array, Uint8Array, Uint8Array, Uint8Array, number]>(
    `INSERT INTO transfers (service, handle, replacement, holder, received_at)
     VALUES (?, ?, ?, ?, ?)`,
  )
  const findIntent = sql.query<IntentRow, [Uint8Array, Uint8Array]>(
    `SELECT ${columns} FROM transfer_intents WHERE handle = ? AND service = ?`,
  )
  const findIntentById = sql.query<IntentRow, [number]>(
    `SELECT ${columns} FROM transfer_intents WHERE id = ?`,
  )
  const insertIntent = sql.query<
    null,
    [Uint8Array, Uint8Array, Uint8Array, Uint8Array, Uint8Array, number, number]
  >(
    `INSERT INTO transfer_intents (service, handle, holder, owner, sealed, next_at, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  )
  const removeIntent = sql.query<null, [number]>('DELETE FROM transfer_intents WHERE id = ?')
  const postpone = sql.query<null, [number, number]>(
    'UPDATE transfer_intents SET attempts = attempts + 1, next_at = ? WHERE id = ?',
  )
  const hurry = sql.query<null, [number]>(
    'UPDATE transfer_intents SET next_at = ?1 WHERE next_at > ?1',
  )
  const due = sql.query<IntentRow, [number, number]>(
    `SELECT ${columns} FROM transfer_intents WHERE next_at <= ? ORDER BY next_at, id LIMIT ?`,
  )
  const nextAt = sql.query<{ next_at: number | null }, []>(
    'SELECT min(next_at) AS next_at FROM transfer_intents',
  )
  const countFor = sql.query<{ all_owners: number; of_owner: number }, [Uint8Array, Uint8Array]>(
    `SELECT count(*) AS all_owners, count(CASE WHEN owner = ?2 THEN 1 END) AS of_owner
     FROM transfer_intents WHERE holder = ?1`,
  )
  const countUpTo = sql.query<{ rows: number }, [number]>(
    `SELECT count(*) AS rows FROM (SELECT 1 FROM transfer_intents WHERE next_at > 0 LIMIT ?)`,
  )

  return {
    /** Who got a voucher that came before; null when it never did. */
    async holderOf({ service, handle }: VoucherRef): Promise<string | null> {
      const row = find.get(handle, bytes(service))
      return row && hex(row.holder)
    },

    /** True when a service has already handed out this replacement. */
    async hasReplacement({ service, handle }: VoucherRef): Promise<boolean> {
      return findReplacement.get(handle, bytes(service)) !== null
    },

    /** Write down a transfer that is finished; its row id. */
    async insert({ service, handle, replacement, holder, now }: NewTransfer): Promise<number> {
      const { lastInsertRowid } = insert.run(
        bytes(service),
        handle,
        replacement,
        bytes(holder),
        now,
      )
      return Number(lastInsertRowid)
    },

    async findIntent({ service, handle }: VoucherRef): Promise<Intent | null> {
      const row = findIntent.get(handle, bytes(service))
      return row && toIntent(row)
    },

    async findIntentById(id: number): Promise<Intent | null> {
      const row = findIntentById.get(id)
      return row && toIntent(row)
    },

    async insertIntent(intent: NewIntent): Promise<number> {
      const { service, handle, holder, owner, sealed, nextAt: at, createdAt } = intent
      const { lastInsertRowid } = insertIntent.run(
        bytes(service),
        handle,
        bytes(holder),
        bytes(owner),
        sealed,
        at,
        createdAt,
      )
      return Number(lastInsertRowid)
    },

    /** Forget an intent; false when somebody else has brought it to its end. */
    async removeIntent(id: number): Promise<boolean> {
      return removeIntent.run(id).changes === 1
    },

    /** An attempt came to nothing: try again at `at`. */
    async postpone(id: number, at: number): Promise<void> {
      postpone.run(at, id)
    },

    /** Everything is due: what a stopped process left behind. */
    async hurry(now: number): Promise<void> {
      hurry.run(now)
    },

    /** Up to `most` that are due, the longest due first. */
    async due(now: number, most: number): Promise<Intent[]> {
      return due.all(now, most).map(toIntent)
    },

    /** When the next one is due; null when there is none. */
    async nextAt(): Promise<number | null> {
      return nextAt.get()?.next_at ?? null
    },

    /** How many are under way for a holder, and of one merchant. */
    async countFor(holder: string, owner: string): Promise<{ all: number; ofOwner: number }> {
      const row = countFor.get(bytes(holder), bytes(owner))
      return { all: row?.all_owners ?? 0, ofOwner: row?.of_owner ?? 0 }
    },

    /** True when at least so many are under way. */
    async full(most: number): Promise<boolean> {
      return (countUpTo.get(most)?.rows ?? 0) >= most
    },
  }
}

function toIntent(row: IntentRow): Intent {
  return {
    id: row.id,
    service: hex(row.service),
    handle: row.handle,
    holder: hex(row.holder),
    sealed: row.sealed,
    attempts: row.attempts,
    createdAt: row.created_at,
  }
}

function bytes(pubkey: string): Uint8Array {
  return Buffer.from(pubkey, 'hex')
}

function hex(blob: Uint8Array): string {
  return Buffer.from(blob).toString('hex')
}
