/**
 * Loaded into a process, it checks each operation on the coupon database: every row that it writes
 * belongs to a root that it has, and roots are locked in their order. A process of the program loads it
 * with `--preload`, or is built with it (programs.ts); a test imports it.
 */
import { Database as Sqlite } from 'bun:sqlite'
import { Batch } from '../../src/db/batch.ts'
import type { BeforeCommit, Operation, Plan } from '../../src/db/database.ts'
import { kindOf, placeOf, type Root } from '../../src/db/roots.ts'
import { SqliteEngine } from '../../src/db/sqlite.ts'
import { k1HashOf } from '../../src/wallet/cards/scan-store.ts'

/** Rows, the roots that cover a write of each (any of them), and a root that its insertion makes. */
type Rule = { on: string; needs: string; makes?: string }

const chain = (voucher: string) =>
  `'chain ' || (SELECT coalesce(root_id, id) FROM vouchers WHERE id = ${voucher})`
const cardOf = (id: string) => `'card ' || (SELECT lower(hex(cid)) FROM cards WHERE id = ${id})`
const key = (kind: string, column: string) => `'${kind} ' || lower(hex(${column}))`
const all = (table: string) => ['INSERT', 'UPDATE', 'DELETE'].map((act) => `${act} ON ${table}`)

/** `ROW` is NEW, or OLD of a deletion. */
const rules: Rule[] = [
  {
    on: 'INSERT ON definitions',
    needs: key('merchant', 'ROW.owner'),
    makes: `'definition ' || ROW.id`,
  },
  {
    on: 'UPDATE OF max_uses, archived_at, revision_id ON definitions',
    needs: `'definition ' || ROW.id`,
  },
  {
    on: 'UPDATE OF issued, claimed, voided ON definitions',
    needs: `'shared ' || ROW.id, 'definition ' || ROW.id`,
  },
  { on: 'DELETE ON definitions', needs: `'definition ' || ROW.id` },
  ...all('revisions').map((on) => ({ on, needs: `'definition ' || ROW.definition_id` })),
  ...all('expiries').map((on) => ({
    on,
    needs: `'shared ' || ROW.definition_id, 'definition ' || ROW.definition_id`,
  })),
  ...all('kills').map((on) => ({ on, needs: `'definition ' || ROW.definition_id` })),
  {
    on: 'INSERT ON vouchers',
    needs: `CASE WHEN ROW.root_id IS NULL THEN 'shared ' || ROW.definition_id
      ELSE 'chain ' || ROW.root_id END,
      CASE WHEN ROW.root_id IS NULL THEN 'definition ' || ROW.definition_id END`,
  },
  {
    on: 'UPDATE ON vouchers',
    needs: `'chain ' || coalesce(ROW.root_id, ROW.id), 'definition ' || ROW.definition_id`,
  },
  ...['refreshes', 'redemptions'].flatMap((table) =>
    all(table).map((on) => ({ on, needs: chain('ROW.voucher_id') })),
  ),
  {
    on: 'INSERT ON posters',
    needs: `'shared ' || ROW.definition_id, 'definition ' || ROW.definition_id`,
  },
  ...['UPDATE', 'DELETE'].map((act) => ({
    on: `${act} ON posters`,
    needs: `'definition ' || ROW.definition_id`,
  })),
  {
    on: 'INSERT ON poster_takes',
    needs: `'definition ' || (SELECT definition_id FROM posters WHERE id = ROW.poster_id)`,
  },
  ...all('batches').map((on) => ({ on, needs: `'definition ' || ROW.definition_id` })),
  ...all('voucher_labels').map((on) => ({
    on,
    needs: `'definition ' || (SELECT definition_id FROM vouchers WHERE id = ROW.id)`,
  })),
  ...['minters', 'announcements', 'shops'].flatMap((table) =>
    all(table).map((on) => ({ on, needs: key('merchant', 'ROW.owner') })),
  ),
  ...['INSERT', 'UPDATE'].map((act) => ({
    on: `${act} ON pictures`,
    needs: key('merchant', 'ROW.owner'),
  })),
  { on: 'DELETE ON pictures', needs: `'instance'` },
  ...all('images').map((on) => ({ on, needs: `'image ' || ROW.url` })),
  ...all('setup_code').map((on) => ({ on, needs: `'roster'` })),
  ...all('merchants').map((on) => ({ on, needs: `'roster', 'instance'` })),
  { on: 'INSERT ON merchant_days', needs: key('quota', 'ROW.owner') },
  { on: 'UPDATE ON merchant_days', needs: key('quota', 'ROW.owner') },
  { on: 'DELETE ON merchant_days', needs: `'instance'` },
  // An event that nobody knew before has no root of its own.
  { on: 'INSERT ON outbox', needs: '', makes: `'queued ' || ROW.id` },
  { on: 'UPDATE ON outbox', needs: `'queued ' || ROW.id` },
  { on: 'DELETE ON outbox', needs: `'instance'` },
  { on: 'INSERT ON deliveries', needs: `'queued ' || ROW.outbox_id` },
  { on: 'UPDATE OF state ON deliveries', needs: `'queued ' || ROW.outbox_id` },
  { on: 'INSERT ON identity_nonces', needs: key('issuer', 'ROW.issuer') },
  { on: 'UPDATE ON identity_nonces', needs: key('nonce', 'ROW.hash') },
  { on: 'DELETE ON identity_nonces', needs: `'instance'` },
  ...all('accounts').map((on) => ({ on, needs: key('holder', 'ROW.pubkey') })),
  { on: 'INSERT ON requests', needs: key('event', 'ROW.event_id') },
  { on: 'DELETE ON requests', needs: `'instance'` },
  ...all('cards').map((on) => ({ on, needs: key('card', 'ROW.cid') })),
  ...['card_codes', 'card_limits', 'card_payments', 'card_spends'].flatMap((table) =>
    all(table).map((on) => ({ on, needs: cardOf('ROW.card_id') })),
  ),
  { on: 'INSERT ON card_scans', needs: cardOf('ROW.card_id') },
  { on: 'UPDATE ON card_scans', needs: cardOf('ROW.card_id') },
  { on: 'DELETE ON card_scans', needs: `'instance'` },
  ...['INSERT', 'UPDATE'].map((act) => ({
    on: `${act} ON ledger_accounts`,
    needs: `'balance ' || ROW.token || ' ' || lower(hex(ROW.pubkey))`,
  })),
  { on: 'INSERT ON ledger_refusals', needs: key('event', 'ROW.event_id') },
  { on: 'DELETE ON ledger_refusals', needs: `'instance'` },
  { on: 'INSERT ON transfers', needs: key('holder', 'ROW.holder') },
  ...all('inbox').map((on) => ({ on, needs: key('holder', 'ROW.holder') })),
  { on: 'INSERT ON transfer_intents', needs: key('service', 'ROW.service') },
  { on: 'DELETE ON transfer_intents', needs: key('service', 'ROW.service') },
  {
    on: 'UPDATE ON transfer_intents',
    needs: `${key('service', 'ROW.service')}, 'instance'`,
  },
  // A balance belongs to the terms that its account was opened with.
  { on: 'INSERT ON ledger_accounts', needs: `'terms ' || ROW.token` },
  ...all('ledger_tokens').map((on) => ({ on, needs: `'terms ' || ROW.name` })),
  ...['session_cutoffs', 'named_keys'].flatMap((table) =>
    all(table).map((on) => ({ on, needs: `'instance'` })),
  ),
]

/** Write down, within the transaction, what each write of a connection needs. */
function watch(connection: Sqlite): void {
  connection.run('CREATE TEMP TABLE touched (rule TEXT, needs TEXT, makes TEXT)')
  for (const [at, { on, needs, makes }] of rules.entries()) {
    const row = (text: string) => text.replaceAll('ROW', on.startsWith('DELETE') ? 'OLD' : 'NEW')
    connection.run(`CREATE TEMP TRIGGER touch_${at} AFTER ${on} BEGIN
      INSERT INTO touched VALUES ('${on}', json_array(${row(needs)}), ${row(makes ?? 'NULL')}); END`)
  }
}

/** The names of what a root covers, as the rules say them; null where it has no row. */
const covered: { [kind in ReturnType<typeof kindOf>]?: string } = {
  voucher: `SELECT 'chain ' || coalesce(root_id, id) AS name FROM vouchers WHERE handle = ?1
    UNION SELECT 'shared ' || definition_id FROM vouchers WHERE handle = ?1`,
  scan: `SELECT 'card ' || lower(hex(c.cid)) AS name FROM card_scans s JOIN cards c ON c.id = s.card_id
    WHERE s.k1_hash = ?1`,
  payment: `SELECT 'card ' || lower(hex(c.cid)) AS name FROM card_payments p
    JOIN cards c ON c.id = p.card_id WHERE p.id = ?1`,
  event: `SELECT 'queued ' || id AS name FROM outbox WHERE event_id = ?1`,
  definition: `SELECT 'shared ' || id AS name FROM definitions WHERE uuid = ?1`,
}

/** The roots of one operation, and the names of the rows that they cover. */
class Held {
  readonly names = new Set<string>()
  readonly #connection: Sqlite
  readonly #roots = new Set<string>()
  #place = -1

  constructor(connection: Sqlite, roots: readonly Root[]) {
    this.#connection = connection
    this.add([...roots].sort((a, b) => placeOf(a) - placeOf(b)))
  }

  add(roots: readonly Root[]): void {
    const fresh = roots.filter((root) => !this.#roots.has(nameOf(root)))
    const first = Math.min(...fresh.map(placeOf))
    if (first < this.#place) throw new Error(`out of order: ${fresh.map(nameOf)}`)
    this.#place = Math.max(this.#place, ...fresh.map(placeOf))
    for (const root of fresh) this.#cover(root)
  }

  #cover(root: Root): void {
    this.#roots.add(nameOf(root))
    this.names.add(nameOf(root))
    const text = covered[kindOf(root)]
    if (text === undefined || typeof root === 'string') return
    const value = 'scan' in root ? k1HashOf(root.scan) : keyOf(root)
    const asked = 'event' in root ? Uint8Array.fromHex(root.event) : value
    const rows = this.#connection.query<{ name: string }, [string | number | Uint8Array]>(text)
    for (const { name } of rows.all(asked)) {
      this.names.add(name)
      if ('mode' in root && root.mode === 'changed') {
        this.names.add(name.replace('shared', 'definition'))
      }
    }
  }
}

function keyOf(root: Exclude<Root, string>): string | number | Uint8Array {
  return Object.entries(root).find(([name]) => name === kindOf(root))?.[1] ?? ''
}

/** As the rules name it. */
function nameOf(root: Root): string {
  if (typeof root === 'string') return root
  if ('balance' in root) return `balance ${root.token} ${root.balance}`
  const value = keyOf(root)
  return `${kindOf(root)} ${value instanceof Uint8Array ? value.toHex() : value}`
}

type Touched = { rule: string; needs: string; makes: string | null }

/** Throws when the operation that has just ended wrote a row that none of its roots covers. */
function verify(connection: Sqlite, held: Held): void {
  const touched = connection.query<Touched, []>('SELECT * FROM temp.touched').all()
  const names = held.names.union(new Set(touched.flatMap(({ makes }) => makes ?? [])))
  for (const { rule, needs } of touched) {
    const any = JSON.parse(needs) as string[]
    if (any.length > 0 && !any.some((name) => names.has(name))) {
      throw new Error(`${rule}: ${any.join(' or ')} is none of ${[...names].join(', ')}`)
    }
  }
}

// Each operation writes its own counts, so that they are seen while it has its roots.
const putOff = Batch.prototype.putOff
Batch.prototype.putOff = function (...change) {
  putOff.apply(this, change)
  this.write()
}

let writer: Sqlite | null = null

// An engine prepares this once for each connection that it writes on.
const query = Sqlite.prototype.query
Sqlite.prototype.query = function (this: Sqlite, text: string) {
  const statement = query.call(this, text)
  if (text !== 'BEGIN IMMEDIATE') return statement
  const ours = query.call(this, "SELECT 1 FROM sqlite_master WHERE name = 'vouchers'")
  const connection = ours.get() === null ? null : this
  if (connection) watch(connection)
  const begin = statement.run.bind(statement)
  statement.run = () => {
    writer = connection
    return begin()
  }
  return statement
} as typeof query

const transact = SqliteEngine.prototype.transact
SqliteEngine.prototype.transact = function (
  this: SqliteEngine<unknown>,
  plan: Plan<unknown>,
  operation: Operation<unknown, unknown>,
) {
  const first: Plan<unknown>['first'] = async (tx) => {
    writer?.run('DELETE FROM temp.touched')
    await plan.first?.(tx)
  }
  return transact.call(this, { ...plan, first }, async (tx) => {
    const connection = writer
    if (!connection) return operation(tx)
    const held = new Held(connection, plan.roots === 'none' ? [] : plan.roots)
    const lock = async (...roots: Root[]) => held.add(roots)
    // Each operation writes its late rows itself, too.
    const steps: (() => void)[] = []
    const beforeCommit: BeforeCommit['beforeCommit'] = (step) => void steps.push(step)
    try {
      const value = await operation({ ...(tx as typeof tx & object), lock, beforeCommit })
      for (const step of steps) step()
      verify(connection, held)
      return value
    } catch (cause) {
      if (cause instanceof Error && !('code' in cause))
        console.error(`CHECK_ROOTS ${cause.message}`)
      throw cause
    }
  })
} as typeof transact
