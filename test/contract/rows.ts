/** Rows that must not exist: the schema refuses each of them, whatever a store would write. */
import { expect } from 'bun:test'
import { couponSchema, relaySchema } from '../../src/db/migrations.ts'
import type { SqlValue } from '../../src/db/sql.ts'
import { written } from './cards.ts'
import {
  at,
  bytes,
  defined,
  event,
  found,
  handle,
  handOn,
  issued,
  key,
  most,
  terms,
  uuid,
} from './fixtures.ts'
import type { CouponTx, Engine, It, RelayTx, Stores } from './harness.ts'
import { hung, took } from './posters.ts'

/** A change of the row that a table holds, with its parameters. */
type Change = [text: string, ...params: SqlValue[]]

const short = bytes(3, 7)
const wrong = (...columns: string[]) => columns.map((name): Change => [`${name} = ?`, short])
const set = (...texts: string[]) => texts.map((text): Change => [text])
/** Of three vouchers, the one that is neither claimed nor refreshed. */
const third = 'WHERE minted_at > 0 AND ended_at IS NULL AND root_id IS NULL'

const couponRows: Record<string, Change[]> = {
  state: set('id = 2', 'clean = 2'),
  definitions: [
    ...set("uuid = 'x'", 'max_uses = 0', 'max_uses = 1000001', 'issued = -1', 'claimed = -1'),
    ...set('voided = -1', 'claimed = issued + 1', 'revision_id = 999'),
    ...wrong('owner'),
  ],
  revisions: [
    ...set("benefit = '{'", "rules = '{'", "rules = '[]'", 'definition_id = 999'),
    ...wrong('picture'),
  ],
  images: wrong('hash'),
  pictures: [...wrong('owner', 'hash'), ...set("type = 'image/gif'", 'bytes = 9')],
  vouchers: [
    ...wrong(`handle`, 'minted_by').map(([text, ...rest]): Change => [`${text} ${third}`, ...rest]),
    ...set(
      `phase = 'x', ended_at = 1 ${third}`,
      `phase = 'claimed' ${third}`,
      `ended_at = 1 ${third}`,
    ),
    ...set(
      `root_id = id ${third}`,
      `root_id = 0 ${third}`,
      `definition_id = 999 ${third}`,
      `revision_id = 999 ${third}`,
    ),
  ],
  refreshes: [...wrong('key_mac'), ...set('id = 999', 'voucher_id = 999')],
  posters: [
    ...set("uuid = 'x'", 'per_person = 0', 'per_person = 101', 'per_day = 0', 'per_day = 1000001'),
    ...set('total = 0', 'total = 1000001', 'paused = 2', 'taken = -1', 'taken_that_day = -1'),
    ...set('taken_that_day = taken + 1', 'starts_at = 5, ends_at = 5', 'definition_id = 999'),
    ...wrong('owner'),
  ],
  poster_takes: [...wrong('taker', 'slot'), ...set('id = 999', 'poster_id = 999')],
  batches: set("uuid = 'x'", 'issued = -1', 'issued = 1001', 'definition_id = 999'),
  voucher_labels: set('id = 999', 'batch_id = 999', 'batch_id = NULL, label = NULL'),
  tills: wrong('owner', 'pubkey'),
  till_hours: set('till_id = 999', 'claimed = -1'),
  redemptions: [
    ...wrong('owner', 'claimed_by'),
    ...set('amount_msat = -1', 'voucher_id = 999', 'till_id = 999', 'claimed_by = NULL'),
    ...set("purchase = '{'"),
  ],
  expiries: set('definition_id = 999', 'open = -1'),
  kills: set('definition_id = 999'),
  totals: set('id = 2'),
  hourly: set('minted = -1', 'claimed = -1', 'definition_id = 999'),
  minters: [...wrong('owner', 'pubkey'), ...set('owner = pubkey', 'may_mint = 2')],
  merchants: [
    ...wrong('pubkey'),
    ...set('owner = 2', 'created_at = 0', 'owner = 1, expires_at = 9'),
  ],
  setup_code: [...wrong('salt'), ...set('id = 2', 'tries = -1')],
  merchant_days: [...wrong('owner'), ...set('vouchers = -1', 'bytes = -1', 'refreshes = -1')],
  shops: [
    ...wrong('owner', 'picture'),
    ...set("name = ''", "color = ''", 'only_authorized_tills = 2'),
  ],
  announcements: [...wrong('owner', 'event_id'), ...set("event = '{'")],
  proofs: wrong('event_id'),
  session_cutoffs: wrong('pubkey'),
  answers: wrong('slot', 'request'),
  outbox: [...wrong('event_id'), ...set('event = NULL', 'done_at = 5')],
  outbox_load: set('id = 2', 'events = -1', 'bytes = -1'),
  deliveries: set("state = 'x'", 'priority = 4', 'priority = -1', 'outbox_id = 999'),
  identity_nonces: wrong('hash', 'issuer'),
  accounts: [
    ...set("uuid = 'x'", "name = ''", "name = 'A'", "name = 'ñ'", "lud16 = '[]'"),
    ...wrong('pubkey', 'created_by'),
    ...set('allow_vouchers = 2', 'nonce_id = 999'),
  ],
  requests: wrong('event_id'),
  request_load: set('id = 2', 'rows = -1'),
  cards: [
    ...set("uuid = 'x'", 'key_version = 0', 'key_version = 256', 'counter = -1'),
    ...set('counter = 16777216', 'counter_known = 2', "design_uuid = 'x'", 'enabled = 2'),
    ...set('blocked = 2', 'holder = NULL, activated_at = NULL', 'activated_at = NULL'),
    ...wrong('cid', 'holder'),
  ],
  card_codes: [...wrong('mac'), ...set('chosen = 2', 'card_id = 999')],
  card_limits: set('amount = -1', 'delta_seconds = -1', 'card_id = 999'),
  trusted_merchants: wrong('holder', 'merchant'),
  card_changes: wrong('event_id', 'holder'),
  card_notices: [...wrong('holder'), ...set('changes = 0', 'told = -1', 'told = changes + 1')],
  card_scans: [
    ...wrong('k1_hash', 'holder'),
    ...set("form = 'x'", "maxima = '{'", "state = 'x'", 'card_id = 999'),
  ],
  ledger_tokens: [
    ...set('decimals = -1', 'decimals = 19'),
    ...wrong('issuer'),
    ...set("name = '' WHERE name = 'LIBRE'", "name = 'seventeen letters' WHERE name = 'LIBRE'"),
  ],
  ledger_accounts: [
    ...wrong('pubkey', 'stale_cause'),
    ...set('issuer = 2', 'balance = -1', 'balance = 8000000000000000001', "token = 'USD'"),
    ...set('issuer = 1, balance = -8000000000000000001'),
  ],
  ledger_movements: [
    ...wrong('event_id', 'answer_id', 'sender', 'receiver'),
    ...set('sender = receiver'),
  ],
  ledger_entries: set('amount = 0', 'movement_id = 999', 'account_id = 999'),
  ledger_refusals: [...wrong('event_id', 'answer_id'), ...set("messages = '{'")],
  transfers: [
    ...wrong('service', 'handle', 'replacement', 'holder'),
    ...set('handle = replacement'),
  ],
  inbox: [
    ...wrong('holder', 'owner', 'ephemeral'),
    ...set("benefit = '{'", "rules = '{'", 'id = 999'),
  ],
  transfer_intents: wrong('service', 'handle', 'holder', 'owner'),
  card_payments: [
    ...wrong('k1_hash', 'request', 'recipient', 'payment_hash', 'start_id', 'ledger'),
    ...set(
      "amounts = '{'",
      "state = 'x', ended_at = 5",
      'late = 2',
      'ended_at = 5',
      "state = 'settled'",
    ),
    ...set("code = 'x'", 'start_id = NULL, ledger = NULL', 'ledger = NULL', 'card_id = 999'),
    ...set("state = 'refused', ended_at = 5"),
  ],
  card_spends: [...wrong('holder'), ...set('amount = 0', 'counts = 2', 'payment_id = 999')],
  named_keys: wrong('pubkey'),
}

const relayRows: Record<string, Change[]> = {
  state: set('id = 2', 'clean = 2'),
  events: [...wrong('event_id', 'pubkey'), ...set('kind = -1', 'kind = 65536', 'kind = 20402')],
  tags: set('id = 999'),
  deletions: wrong('pubkey'),
}

export function couponTables(it: It<CouponTx>, { tables }: Engine): void {
  for (const [table, changes] of Object.entries(couponRows)) {
    if (tables?.replaced.includes(table)) continue
    it(`${table} refuses invalid rows`, async (stores) => {
      await fill(stores)
      const own = changes.filter(
        ([text]) => !tables?.replaced.some((name) => text.startsWith(name)),
      )
      await refuseAll(stores, table, own)
    })
  }

  it('every check and every reference of the coupon schema has a row that it refuses', async () => {
    expect(unchecked(couponSchema.text, couponRows)).toEqual([])
  })
}

export function relayTables(it: It<RelayTx>): void {
  for (const [table, changes] of Object.entries(relayRows)) {
    it(`${table} refuses invalid rows`, async (stores) => {
      await stores.write(async (tx) => {
        await tx.events.insert(event(1, { tags: [['t', 'x']] }))
        await tx.events.delete(event(2, { kind: 5, tags: [['e', event(3).id]] }))
      })
      await refuseAll(stores, table, changes)
    })
  }

  it("every check and every reference of the relay's schema has a row that it refuses", async () => {
    expect(unchecked(relaySchema.text, relayRows)).toEqual([])
  })
}

async function refuseAll<Tx extends Pick<CouponTx, 'sql'>>(
  stores: Stores<Tx>,
  table: string,
  changes: readonly Change[],
): Promise<void> {
  for (const [text, ...params] of changes) {
    await stores.refuses(({ sql }) =>
      sql.query<null, SqlValue[]>(`UPDATE ${table} SET ${text}`).changes(...params),
    )
  }
}

/** Tables with more checks and references than changes that try them. */
function unchecked(schema: string, rows: Record<string, Change[]>): string[] {
  const plain = schema.replace(/--.*/g, '')
  return [...plain.matchAll(/^CREATE TABLE (\w+) \(\n([\s\S]*?)^\)/gm)].flatMap(
    ([, table, body]) => {
      const wanted = found(body).match(/\b(CHECK|REFERENCES)\b/g)?.length ?? 0
      const tried = rows[found(table)]?.length ?? 0
      return tried < wanted ? [`${table}: ${tried} of ${wanted}`] : []
    },
  )
}

/** A row in every table, but for four vouchers and a token that no account rests on. */
function fill(stores: Stores<CouponTx>): Promise<void> {
  return stores.write(async (tx) => {
    await tx.facts.pin('manager', key(80))
    const definition = await defined(tx, 1, {
      image: 'https://example.com/1',
      maxUses: 9,
      expiresAt: most,
    })
    const [claimed, old] = await issued(tx, definition, [1, 2, 3])
    const by = { pubkey: key(1), listed: true }
    const filed = { zapRequest: null, zapRequestId: null, amountMsat: 5, purchase: null, by }
    await tx.vouchers.claim(found(claimed), filed, at)
    const successor = { handle: handle(4), keyMac: bytes(32, 4), sealed: bytes(9, 4), now: at }
    await handOn(tx, found(old), successor)
    tx.sql
      .query<null, [number]>(
        'INSERT INTO kills (definition_id, upto_voucher_id, killed_at) VALUES (?, 0, 1)',
      )
      .run(definition.rowId)
    await took(tx, await hung(tx, 1), 5)
    tx.batches.insert(uuid(1), definition.rowId, 'x', at)
    tx.batches.file(handle(3), found(await tx.batches.find(uuid(1))).rowId, 'x')
    await tx.minters.insert(key(1), { pubkey: key(2), label: null, createdAt: at, mint: true })
    const merchant = { pubkey: key(1), label: null, owner: false, createdAt: at, expiresAt: null }
    await tx.merchants.put(merchant)
    await tx.merchants.setCode(bytes(16, 1))
    await tx.quotas.add(1, key(1), { vouchers: 1, bytes: 1, refreshes: 1 })
    await tx.shops.put(
      key(1),
      { name: 'x', color: 'blue', picture: null, onlyAuthorizedTills: true },
      at,
    )
    await tx.pictures.insert(key(1), key(3), { type: 'image/png', bytes: new Uint8Array(3) }, at)
    await tx.announcements.put(event(1))
    await tx.proofs.use(event(1).id, at)
    await tx.cutoffs.set({ pubkey: key(1), endedAt: at })
    const answer = { request: bytes(32, 1), status: 200, sealed: bytes(9, 1) }
    await tx.answers.insert(bytes(32, 1), answer, at)
    const entry = { now: at, giveUpAt: at, priority: 'own' as const }
    await tx.outbox.insert(event(1), ['wss://a'], entry)
    await fillWallet(tx)
  })
}

async function fillWallet(tx: CouponTx): Promise<void> {
  await tx.nonces.insert(bytes(32, 1), key(1), at)
  const nonceId = found(await tx.nonces.find(bytes(32, 1))).id
  const account = { uuid: uuid(1), name: 'uno', pubkey: key(1), lud16: {}, nonceId }
  await tx.accounts.insert({ ...account, createdBy: key(2), createdAt: at })
  await tx.requests.insert(event(1).id, null, at)
  const card = await written(tx, 1)
  await tx.cards.activate(card, { holder: key(1), delegation: bytes(9, 1), name: 'x', at })
  await tx.cards.linkCode(bytes(32, 1), { cardId: card, chosen: true, at })
  const limit = { name: 'x', description: '', token: 'ARS', amount: 1n, delta: 1 }
  await tx.holders.setLimits(card, [limit])
  await tx.holders.setMerchants(key(1), [key(2)])
  await tx.holders.change(key(1), event(1))
  tx.holders.owe(key(1))
  const maxima = new Map([['ARS', 1n]])
  const times = { createdAt: at, expiresAt: at }
  await tx.scans.insert('k1', { cardId: card, holder: key(1), form: 'standard', maxima, ...times })
  const asked = { k1: 'k1', request: key(1), cardId: card, holder: key(1), recipient: key(2) }
  await tx.payments.insert(
    { ...asked, amounts: maxima, paymentHash: key(3) },
    { id: event(1).id, ledger: key(4), expiresAt: at },
    { state: 'pending', now: at },
  )
  for (const name of ['ARS', 'LIBRE']) {
    await tx.ledger.declare({ name, decimals: 0, issuer: key(9) })
  }
  const moved = { eventId: event(1).id, answerId: event(2).id, memo: null, now: at }
  const movement = await tx.ledger.settle({ ...moved, sender: key(9), receiver: key(1) })
  const { id } = await tx.ledger.open('ARS', key(1))
  await tx.ledger.add(movement, id, 5n)
  await tx.ledger.postpone(id, event(1).id)
  const no = { answerId: event(2).id, messages: [], forgetAt: at }
  await tx.ledger.refuse(event(3).id, no)
  const arrived = { service: key(5), handle: handle(1), holder: key(1) }
  const transfer = await tx.transfers.insert({ ...arrived, replacement: handle(2), now: at })
  const sealed = { pubkey: key(6), payload: '' }
  const held = {
    ...{ holder: key(1), owner: key(2), couponId: 'x', terms },
    ...{ comment: null, rules: null, sealed },
  }
  await tx.inbox.insert({ id: transfer, ...held })
  const due = { owner: key(2), sealed: bytes(9, 1), nextAt: at, createdAt: at }
  await tx.transfers.insertIntent({ ...arrived, ...due })
  await tx.members.setNamed([key(1)])
}
