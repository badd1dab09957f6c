import { Database as Sqlite } from 'bun:sqlite'
import { createHash } from 'node:crypto'

/**
 * Facts that an answer told, by name: `balance <key>`, `movement <event>`, `card <uid>`, `counter <uid>`, `k1 <k1>`,
 * `name <name>`, `nonce <nonce>`, `inbox <key>`, `poster <uuid>`, `picture <hash>`, `event <id>`, `session <token>`. And
 * `vouchers`: the number of all.
 */
export type Facts = Map<string, string>

/** The word for something that is not there. */
const none = 'none'

/** The token of the ledger. */
export const token = 'PESO'

/** True if a fact that was told holds. */
export function holds(name: string, told: string, there: string): boolean {
  if (told === there) return true
  // A delivery goes on by itself. An unused k1 is kept for an hour after it has expired.
  if (told === 'kept') return there === 'delivered'
  // A restore ends sessions, too.
  return told === none && name.startsWith('session ')
}

/** The differences between told facts and those that are there, among these names. */
export function factProblems(names: Iterable<string>, told: Facts, there: Facts): string[] {
  return [...names].flatMap((name) => {
    const [before, now] = [told.get(name) ?? none, there.get(name) ?? none]
    return holds(name, before, now) ? [] : [`${name.split(' ')[0]} was ${before} and is ${now}`]
  })
}

/** Reads facts in the file of a service. */
export class FactFile {
  readonly #file: Sqlite

  constructor(path: string) {
    this.#file = new Sqlite(path, { readonly: true })
    this.#file.run('PRAGMA busy_timeout = 5000')
  }

  read(names: Iterable<string>): Facts {
    const facts: Facts = new Map()
    for (const name of names) {
      const [kind = '', key = ''] = name.split(' ')
      const found = readers[kind]?.(this.#file, key) ?? null
      if (found !== null) facts.set(name, found)
    }
    return facts
  }

  close(): void {
    this.#file.close()
  }
}

type Reader = (file: Sqlite, key: string) => string | null

const readers: Record<string, Reader> = {
  vouchers: (file) =>
    textOf(find<{ all: number }>(file, 'SELECT count(*) AS "all" FROM vouchers')?.all),
  balance(file, pubkey) {
    const sql = 'SELECT balance FROM ledger_accounts WHERE token = ? AND pubkey = ?'
    return textOf(find<{ balance: number }>(file, sql, token, bytes(pubkey))?.balance)
  },
  movement(file, id) {
    const row = find<{ entries: number; sum: number }>(
      file,
      `SELECT count(e.amount) AS entries, sum(e.amount) AS sum FROM ledger_movements m
       JOIN ledger_entries e ON e.movement_id = m.id WHERE m.event_id = ? GROUP BY m.id`,
      bytes(id),
    )
    return row && `${row.entries} entries, sum ${row.sum}`
  },
  card(file, uid) {
    const sql = 'SELECT holder, deleted_at FROM cards WHERE cid = ?'
    const card = find<{ holder: Uint8Array | null; deleted_at: number | null }>(
      file,
      sql,
      bytes(uid),
    )
    if (!card) return null
    return card.deleted_at !== null ? 'deleted' : card.holder ? 'active' : 'written'
  },
  counter(file, uid) {
    const sql = 'SELECT counter FROM cards WHERE cid = ?'
    return textOf(find<{ counter: number }>(file, sql, bytes(uid))?.counter)
  },
  k1(file, k1) {
    const hash = sha256(k1).subarray(0, 16)
    const paid = "SELECT 1 AS paid FROM card_payments WHERE k1_hash = ? AND state = 'settled'"
    if (find(file, paid, hash)) return 'settled'
    return (
      find<{ state: string }>(file, 'SELECT state FROM card_scans WHERE k1_hash = ?', hash)
        ?.state ?? null
    )
  },
  name(file, name) {
    const sql = 'SELECT hex(pubkey) AS pubkey FROM accounts WHERE name = ?'
    return find<{ pubkey: string }>(file, sql, name)?.pubkey.toLowerCase() ?? null
  },
  nonce(file, nonce) {
    const sql = 'SELECT burned_at FROM identity_nonces WHERE hash = ?'
    const row = find<{ burned_at: number | null }>(file, sql, sha256(nonce))
    return row && (row.burned_at === null ? 'open' : 'burned')
  },
  inbox(file, holder) {
    const sql = `SELECT count(*) AS vouchers FROM transfers t JOIN inbox i ON i.id = t.id
      WHERE t.holder = ?1 AND i.holder = ?1 GROUP BY i.holder`
    return textOf(find<{ vouchers: number }>(file, sql, bytes(holder))?.vouchers)
  },
  poster(file, uuid) {
    const row = find<{ taken: number; takes: number }>(
      file,
      `SELECT p.taken AS taken, count(t.id) AS takes FROM posters p
       LEFT JOIN poster_takes t ON t.poster_id = p.id WHERE p.uuid = ? GROUP BY p.id`,
      uuid,
    )
    return row && (row.taken === row.takes ? String(row.taken) : `${row.taken}, not ${row.takes}`)
  },
  picture(file, hash) {
    const sql = 'SELECT content FROM pictures WHERE hash = ?'
    const row = find<{ content: Uint8Array }>(file, sql, bytes(hash))
    return row && (sha256(row.content).toString('hex') === hash ? 'whole' : 'damaged')
  },
  event(file, id) {
    const row = find<{ all: number; delivered: number; open: number }>(
      file,
      `SELECT count(*) AS "all", sum(d.state = 'delivered') AS delivered,
         sum(d.state = 'pending' AND o.event IS NOT NULL) AS open
       FROM outbox o JOIN deliveries d ON d.outbox_id = o.id WHERE o.event_id = ? GROUP BY o.id`,
      bytes(id),
    )
    if (!row) return null
    if (row.delivered === row.all) return 'delivered'
    return row.delivered + row.open === row.all ? 'kept' : 'given up'
  },
  session(file, token) {
    const { sub, iat } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
    const sql =
      'SELECT 1 AS ended FROM session_cutoffs WHERE pubkey IN (?, zeroblob(32)) AND ended_at >= ?'
    return find(file, sql, bytes(sub), iat) === null ? null : 'ended'
  },
}

function find<Row>(file: Sqlite, sql: string, ...values: (string | number | Uint8Array)[]) {
  return file.query<Row, (string | number | Uint8Array)[]>(sql).get(...values)
}

function textOf(value: number | undefined): string | null {
  return value === undefined ? null : String(value)
}

function bytes(hex: string): Uint8Array {
  return Uint8Array.fromHex(hex)
}

function sha256(data: string | Uint8Array): Buffer {
  return createHash('sha256').update(data).digest()
}
