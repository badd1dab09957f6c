import { bytesOf, hexOf } from '../../base/bytes.ts'
import { limits } from '../../base/limits.ts'
import type { Sql } from '../../db/sql.ts'
import type { Token } from './token.ts'

/** The answer to a start event. */
export type Outcome =
  | { state: 'ok'; answerId: string }
  | { state: 'error'; answerId: string; messages: string[] }

export type Account = {
  id: number
  token: string
  pubkey: string
  balance: bigint
  /** `created_at` of its last balance event; 0 before the first. */
  publishedAt: number
}

/** One movement as the owner of an account sees it; the amount is negative when it was paid out. */
type AccountMovement = {
  id: number
  eventId: string
  token: string
  amount: bigint
  counterparty: string
  memo: string | null
  at: number
}

type AccountRow = {
  id: number
  token: string
  pubkey: Uint8Array
  balance: string
  published_at: number
}

export type LedgerStore = ReturnType<typeof createLedgerStore>

/** Accounts, entries and answers, on one connection. Amounts cross as text: a double has 53 bits. */
export function createLedgerStore(sql: Sql) {
  const columns = 'id, token, pubkey, CAST(balance AS TEXT) AS balance, published_at'
  const declare = sql.query<null, [string, number, Uint8Array]>(
    `INSERT INTO ledger_tokens (name, decimals, issuer) VALUES (?, ?, ?)
     ON CONFLICT (name) DO UPDATE SET decimals = excluded.decimals, issuer = excluded.issuer
     WHERE (ledger_tokens.decimals, ledger_tokens.issuer) <> (excluded.decimals, excluded.issuer)
       AND NOT EXISTS (SELECT 1 FROM ledger_accounts WHERE token = excluded.name)`,
  )
  const token = sql.query<{ name: string; decimals: number; issuer: Uint8Array }, [string]>(
    'SELECT name, decimals, issuer FROM ledger_tokens WHERE name = ?',
  )
  const nextToken = sql.query<{ name: string }, [string]>(
    'SELECT name FROM ledger_tokens WHERE name > ? ORDER BY name LIMIT 1',
  )
  const movement = sql.query<{ answer_id: Uint8Array }, [Uint8Array]>(
    'SELECT answer_id FROM ledger_movements WHERE event_id = ?',
  )
  const refusal = sql.query<{ answer_id: Uint8Array; messages: string }, [Uint8Array]>(
    'SELECT answer_id, messages FROM ledger_refusals WHERE event_id = ?',
  )
  const insertRefusal = sql.query<null, [Uint8Array, Uint8Array, string, number]>(
    'INSERT INTO ledger_refusals (event_id, answer_id, messages, forget_at) VALUES (?, ?, ?, ?)',
  )
  const insertMovement = sql.query<
    { id: number },
    [Uint8Array, Uint8Array, Uint8Array, Uint8Array, string | null, number]
  >(
    `INSERT INTO ledger_movements (event_id, answer_id, sender, receiver, memo, settled_at)
     VALUES (?, ?, ?, ?, ?, ?) RETURNING id`,
  )
  const insertEntry = sql.query<null, [number, number, bigint]>(
    'INSERT INTO ledger_entries (movement_id, account_id, amount) VALUES (?, ?, ?)',
  )
  const insertAccount = sql.query<null, [string, Uint8Array]>(
    `INSERT INTO ledger_accounts (token, pubkey, issuer)
     SELECT name, ?2, CASE WHEN issuer = ?2 THEN 1 ELSE 0 END FROM ledger_tokens WHERE name = ?1
     ON CONFLICT (token, pubkey) DO NOTHING`,
  )
  const account = sql.query<AccountRow, [string, Uint8Array]>(
    `SELECT ${columns} FROM ledger_accounts WHERE token = ? AND pubkey = ?`,
  )
  const accountsOf = sql.query<AccountRow, [Uint8Array]>(
    `SELECT ${columns} FROM ledger_accounts WHERE pubkey = ? ORDER BY token`,
  )
  const accountsOfToken = sql.query<AccountRow, [string, number, number]>(
    `SELECT ${columns} FROM ledger_accounts WHERE token = ? AND id > ? ORDER BY id LIMIT ?`,
  )
  // The balance is compared, not the sum, which may be beyond 64 bits.
  const add = sql.query<AccountRow, [bigint, number, bigint, bigint, bigint]>(
    `UPDATE ledger_accounts SET balance = balance + ?1
     WHERE id = ?2 AND (issuer = 1 OR balance >= ?3) AND balance BETWEEN ?4 AND ?5
     RETURNING ${columns}`,
  )
  const published = sql.query<null, [number, number]>(
    'UPDATE ledger_accounts SET published_at = ?, stale_cause = NULL WHERE id = ?',
  )
  const postpone = sql.query<null, [Uint8Array, number]>(
    'UPDATE ledger_accounts SET stale_cause = ? WHERE id = ?',
  )
  const stale = sql.query<AccountRow & { stale_cause: Uint8Array }, [number, number]>(
    `SELECT ${columns}, stale_cause FROM ledger_accounts
     WHERE stale_cause IS NOT NULL AND published_at < ? ORDER BY published_at LIMIT ?`,
  )
  const movementsOf = sql.query<
    {
      id: number
      event_id: Uint8Array
      amount: string
      sender: Uint8Array
      receiver: Uint8Array
      memo: string | null
      settled_at: number
    },
    [number, number, number]
  >(
    `SELECT m.id, m.event_id, CAST(e.amount AS TEXT) AS amount, m.sender, m.receiver, m.memo, m.settled_at
     FROM ledger_entries e JOIN ledger_movements m ON m.id = e.movement_id
     WHERE e.account_id = ? AND e.movement_id < ?
     ORDER BY e.movement_id DESC LIMIT ?`,
  )
  const prune = sql.query<null, [number, number]>(
    `DELETE FROM ledger_refusals WHERE event_id IN
       (SELECT event_id FROM ledger_refusals WHERE forget_at < ? ORDER BY forget_at LIMIT ?)`,
  )

  return {
    /** Store a token's terms; false when accounts exist under other terms. */
    async declare({ name, decimals, issuer }: Token): Promise<boolean> {
      declare.run(name, decimals, bytesOf(issuer))
      const row = await token.get(name)
      return row?.decimals === decimals && hexOf(row.issuer) === issuer
    },

    /** Every token there ever was, by name. */
    async tokens(): Promise<Token[]> {
      const found: Token[] = []
      let row = await nextToken.get('')
      for (; row; row = await nextToken.get(row.name)) {
        const terms = await token.get(row.name)
        if (terms) found.push({ ...terms, issuer: hexOf(terms.issuer) })
      }
      return found
    },

    /** The answer to this start event, or null. */
    async outcome(eventId: string): Promise<Outcome | null> {
      const settled = await movement.get(bytesOf(eventId))
      if (settled) return { state: 'ok', answerId: hexOf(settled.answer_id) }
      const refused = await refusal.get(bytesOf(eventId))
      if (!refused) return null
      const messages = JSON.parse(refused.messages) as string[]
      return { state: 'error', answerId: hexOf(refused.answer_id), messages }
    },

    /** Store a refusal until `forgetAt`. */
    async refuse(
      eventId: string,
      { answerId, messages, forgetAt }: { answerId: string; messages: string[]; forgetAt: number },
    ): Promise<void> {
      insertRefusal.run(bytesOf(eventId), bytesOf(answerId), JSON.stringify(messages), forgetAt)
    },

    /** Store a settled transaction; the result is the id for its entries. */
    async settle(transaction: {
      eventId: string
      answerId: string
      sender: string
      receiver: string
      memo: string | null
      now: number
    }): Promise<number> {
      const { eventId, answerId, sender, receiver, memo, now } = transaction
      const row = await insertMovement.get(
        bytesOf(eventId),
        bytesOf(answerId),
        bytesOf(sender),
        bytesOf(receiver),
        memo,
        now,
      )
      if (!row) throw new Error('the movement was not inserted')
      return row.id
    },

    /** The account of a key, made when there is none; the token has to be declared. */
    async open(tokenName: string, pubkey: string): Promise<Account> {
      insertAccount.run(tokenName, bytesOf(pubkey))
      const row = await account.get(tokenName, bytesOf(pubkey))
      if (!row) throw new Error('an account of a token that is not declared')
      return toAccount(row)
    },

    /** The balance of a key, 0 without an account. */
    async balance(tokenName: string, pubkey: string): Promise<bigint> {
      return BigInt((await account.get(tokenName, bytesOf(pubkey)))?.balance ?? 0)
    },

    /** Add an entry and its amount, which may be negative; null when the balance would leave its bounds. */
    async add(movementId: number, accountId: number, amount: bigint): Promise<Account | null> {
      const row = await add.get(
        amount,
        accountId,
        asInteger(-amount),
        asInteger(-limits.tokenBalanceMax - amount),
        asInteger(limits.tokenBalanceMax - amount),
      )
      if (!row) return null
      insertEntry.run(movementId, accountId, amount)
      return toAccount(row)
    },

    /** Store that the balance event of this second was published. */
    async published(accountId: number, createdAt: number): Promise<void> {
      published.run(createdAt, accountId)
    },

    /** Store that a balance event is owed, for this cause. */
    async postpone(accountId: number, cause: string): Promise<void> {
      postpone.run(bytesOf(cause), accountId)
    },

    /** Accounts whose balance event is owed and can be published now. */
    async stale(now: number, most: number): Promise<(Account & { cause: string })[]> {
      return (await stale.all(now, most)).map((row) => ({
        ...toAccount(row),
        cause: hexOf(row.stale_cause),
      }))
    },

    /** The accounts of a key, by token. */
    async accountsOf(pubkey: string): Promise<Account[]> {
      return (await accountsOf.all(bytesOf(pubkey))).map(toAccount)
    },

    /** Up to `most` accounts of a token with a higher id than this. */
    async accountsOfToken(tokenName: string, after: number, most: number): Promise<Account[]> {
      return (await accountsOfToken.all(tokenName, after, most)).map(toAccount)
    },

    /** The last movements of an account before the one with that id, newest first. */
    async movements(owner: Account, before: number, most: number): Promise<AccountMovement[]> {
      return (await movementsOf.all(owner.id, before, most)).map((row) => {
        const sender = hexOf(row.sender)
        return {
          id: row.id,
          eventId: hexOf(row.event_id),
          token: owner.token,
          amount: BigInt(row.amount),
          counterparty: sender === owner.pubkey ? hexOf(row.receiver) : sender,
          memo: row.memo,
          at: row.settled_at,
        }
      })
    },

    /** Forget up to `rowsMax` refusals of events that are too old to come again. */
    async prune(rowsMax: number, before: number): Promise<number> {
      return await prune.changes(before, rowsMax)
    },
  }
}

function toAccount(row: AccountRow): Account {
  const { id, token, balance, published_at: publishedAt } = row
  return { id, token, pubkey: hexOf(row.pubkey), balance: BigInt(balance), publishedAt }
}

/** The nearest integer of 64 bits. */
function asInteger(value: bigint): bigint {
  const [least, most] = [-(2n ** 63n), 2n ** 63n - 1n]
  return value < least ? least : value > most ? most : value
}
