import { bytesOf, hexOf } from '../base/bytes.ts'
import { limits } from '../base/limits.ts'
import type { Sql } from '../db/sql.ts'
import type { Terms } from './definition.ts'
import type { Money } from './money.ts'
import type { Page } from './page.ts'
import { createRedemptionStore } from './redemption-store.ts'
import { hourOf } from './statistics.ts'
import { createTillStore } from './till-store.ts'
import { createExpiryCounter, createVoidStore, openRow } from './void-store.ts'
import type { FrozenVoucher, ListedVoucher, Phase, Voucher } from './voucher.ts'

type Totals = { issued: number; claimed: number; voided: number; refreshed: number }

type VoucherRow = {
  id: number
  definition_id: number
  revision_id: number
  root_id: number | null
  phase: Phase
  ended_at: number | null
  killed_at: number | null
}

type ListedRow = VoucherRow & {
  handle: Uint8Array
  minted_by: Uint8Array
  minted_at: number
  root: Uint8Array
  poster: string | null
  batch: string | null
  label: string | null
}

type FrozenRow = {
  uuid: string
  owner: Uint8Array
  name: string
  description: string
  image: string | null
  benefit: string
  expires_at: number | null
  rules: string | null
  picture: Uint8Array | null
}

// Few columns, because this read is part of every refresh and claim. The terms are cached per revision.
const columns = `
  v.id, v.definition_id, v.revision_id, v.root_id, v.phase, v.ended_at,
  (SELECT k.killed_at FROM kills k WHERE k.definition_id = v.definition_id
     AND k.upto_voucher_id >= v.id ORDER BY k.upto_voucher_id LIMIT 1) AS killed_at`
// The root is joined, because the list shows the handle of the chain's first voucher.
const listed = `
  SELECT ${columns}, v.handle, v.minted_by, v.minted_at, root.handle AS root,
    (SELECT p.uuid FROM poster_takes x JOIN posters p ON p.id = x.poster_id
       WHERE x.id = root.id) AS poster,
    (SELECT b.uuid FROM batches b WHERE b.id = l.batch_id) AS batch, l.label
  FROM vouchers v JOIN vouchers root ON root.id = coalesce(v.root_id, v.id)
  LEFT JOIN voucher_labels l ON l.id = root.id`

export type VoucherStore = ReturnType<typeof createVoucherStore>

/** Store of vouchers, of their refreshes and redemptions. `void-store.ts` and `redemption-store.ts` hold parts of it. */
export function createVoucherStore(sql: Sql) {
  const find = sql.query<VoucherRow, [Uint8Array]>(
    `SELECT ${columns} FROM vouchers v WHERE v.handle = ?`,
  )
  // The setting of the shop comes along: a read of its own would be one more way to a server.
  const findToClaim = sql.query<
    VoucherRow & { only_authorized_tills: number | null },
    [Uint8Array]
  >(
    `SELECT ${columns}, (SELECT s.only_authorized_tills FROM shops s JOIN definitions d ON s.owner = d.owner
       WHERE d.id = v.definition_id) AS only_authorized_tills
     FROM vouchers v WHERE v.handle = ?`,
  )
  const findEnd = sql.query<VoucherRow, [number]>(
    `SELECT ${columns} FROM vouchers v
     WHERE coalesce(v.root_id, v.id) = ? AND v.phase <> 'refreshed'`,
  )
  const findListed = sql.query<ListedRow, [number]>(`${listed} WHERE v.id = ?`)
  const list = sql.query<ListedRow, [number, number, number]>(
    `${listed} WHERE v.definition_id = ? AND v.id < ?
     ORDER BY v.id DESC LIMIT ?`,
  )
  // A chain is a linked list of refreshes and has no index. `step` bounds the walk to one page.
  const listChain = sql.query<ListedRow, [number, number, number]>(
    `WITH RECURSIVE chain (id, step) AS (
       SELECT CAST(?1 AS BIGINT), 1
       UNION ALL SELECT x.id, step + 1
       FROM chain JOIN refreshes x ON x.voucher_id = chain.id WHERE step < ?3)
     ${listed} WHERE v.id IN (SELECT id FROM chain) AND root.id = ?2 ORDER BY v.id`,
  )
  const findFrozen = sql.query<FrozenRow, [number]>(
    `SELECT d.uuid, d.owner, r.name, r.description, r.image, r.benefit, r.expires_at, r.rules,
       r.picture
     FROM revisions r JOIN definitions d ON d.id = r.definition_id
     WHERE r.id = ?`,
  )
  const insert = sql.query<null, [Uint8Array, number, number, Uint8Array, number]>(
    `INSERT INTO vouchers (handle, definition_id, revision_id, minted_by, minted_at)
     VALUES (?, ?, ?, ?, ?)`,
  )
  // The guarded writes of claim and refresh. Each changes a row once only, whatever was read before.
  const endOpen = (phase: 'claimed' | 'refreshed') =>
    `UPDATE vouchers SET phase = '${phase}', ended_at = ?1 WHERE id = ?2 AND ${openRow}
       AND coalesce((SELECT r.expires_at FROM revisions r WHERE r.id = revision_id) > ?1, TRUE)`
  const refresh = sql.changeThenInsert<[number, number, Uint8Array, number, number, number]>({
    update: endOpen('refreshed'),
    into: 'vouchers',
    values: {
      handle: '?3',
      definition_id: '?4',
      revision_id: '?5',
      root_id: '?6',
      minted_at: '?1',
      minted_by: {
        changed: 'minted_by',
        found: '(SELECT minted_by FROM vouchers WHERE id = ?2)',
      },
    },
  })
  // A refresh has the row id of the successor, so that a chain is walked without another index.
  const insertRefresh = sql.query<null, [Uint8Array, number, Uint8Array, Uint8Array]>(
    `INSERT INTO refreshes (id, voucher_id, key_mac, sealed)
     VALUES ((SELECT id FROM vouchers WHERE handle = ?), ?, ?, ?)`,
  )
  const findRefresh = sql.query<{ key_mac: Uint8Array; sealed: Uint8Array }, [number]>(
    'SELECT key_mac, sealed FROM refreshes WHERE voucher_id = ?',
  )
  // The owner is stored again, because redemptions are listed by owner, newest first.
  const claim = sql.changeThenInsert<
    [
      number,
      number,
      Uint8Array,
      string | null,
      string | null,
      number | null,
      string | null,
      Uint8Array | null,
      Uint8Array | null,
    ]
  >({
    update: endOpen('claimed'),
    into: 'redemptions',
    values: {
      voucher_id: { changed: 'id', found: '?2' },
      owner: '?3',
      zap_request: '?4',
      zap_request_id: '?5',
      amount_msat: '?6',
      purchase: '?7',
      claimed_by: '?8',
      till_id: '(SELECT id FROM tills WHERE owner = ?3 AND pubkey = ?9)',
    },
  })
  const tills = createTillStore(sql)
  const expiries = createExpiryCounter(sql)
  // Counters change in the transaction of the row that they count, so they are exact after any crash.
  const countClaimed = sql.query<null, [number]>(
    sql.counters.addToExisting('definitions', { keys: { id: '?1' }, by: { claimed: '1' } }),
  )
  const countRedeemed = sql.query<null, [number, number]>(
    sql.counters.add('hourly', {
      keys: { definition_id: '?1', hour: '?2' },
      by: { claimed: '1' },
    }),
  )
  const addTotals = sql.query<null, [number, number]>(
    sql.counters.addToExisting('totals', {
      keys: { id: '1' },
      by: { claimed: '?1', refreshed: '?2' },
    }),
  )
  const totals = sql.query<Totals, []>(
    `SELECT CAST(coalesce(sum(issued), 0) AS BIGINT) AS issued,
       CAST(coalesce(sum(claimed), 0) AS BIGINT) AS claimed,
       CAST(coalesce(sum(voided), 0) AS BIGINT) AS voided,
       CAST(coalesce(sum(refreshed), 0) AS BIGINT) AS refreshed
     FROM ${sql.counters.rows('totals')} WHERE id = 1`,
  )
  // Cache of revisions. They are found through a voucher, and a revision that a voucher points to never changes.
  const frozenByRevision = new Map<number, FrozenVoucher>()
  const loadFrozen = async (revisionId: number): Promise<FrozenVoucher> => {
    const row = await findFrozen.get(revisionId)
    if (!row) throw new Error('a voucher points to a revision that does not exist')
    if (frozenByRevision.size >= limits.frozenTermsCachedMax) frozenByRevision.clear()
    const frozen = toFrozen(row)
    frozenByRevision.set(revisionId, frozen)
    return frozen
  }

  const toVoucher = async (row: VoucherRow): Promise<Voucher> =>
    voucherOf(row, frozenByRevision.get(row.revision_id) ?? (await loadFrozen(row.revision_id)))

  const toListed = async (row: ListedRow): Promise<ListedVoucher> => ({
    ...(await toVoucher(row)),
    handle: row.handle,
    root: row.root,
    mintedBy: hexOf(row.minted_by),
    mintedAt: row.minted_at,
    poster: row.poster,
    batch: row.batch,
    label: row.label,
  })

  return {
    ...createVoidStore(sql),
    ...createRedemptionStore(sql),

    /** One statement, and a read of its revision if that is new here: good for a look. */
    async find(handle: Uint8Array): Promise<Voucher | null> {
      const row = await find.get(handle)
      const known = row && frozenByRevision.get(row.revision_id)
      return known ? voucherOf(row, known) : row && toVoucher(row)
    },

    /** A voucher, and whether only tills of its owner and of the owner's minters redeem it. */
    async findToClaim(
      handle: Uint8Array,
    ): Promise<{ voucher: Voucher; onlyAuthorizedTills: boolean } | null> {
      const row = await findToClaim.get(handle)
      if (!row) return null
      return {
        voucher: await toVoucher(row),
        onlyAuthorizedTills: row.only_authorized_tills === 1,
      }
    },

    /** The last voucher of a chain: the only one that is not refreshed. */
    async findEnd(rootId: number): Promise<Voucher> {
      const row = await findEnd.get(rootId)
      if (!row) throw new Error('a chain of refreshes has no end')
      return toVoucher(row)
    },

    /** An existing voucher with the columns of the issuances list. */
    async findListed(rowId: number): Promise<ListedVoucher> {
      const row = await findListed.get(rowId)
      if (!row) throw new Error('a voucher that was just found is gone')
      return toListed(row)
    },

    /** One row more than the page holds, newest first. */
    async list(definitionRowId: number, page: Page): Promise<ListedVoucher[]> {
      const before = page.before ?? Number.MAX_SAFE_INTEGER
      return Promise.all((await list.all(definitionRowId, before, page.limit + 1)).map(toListed))
    },

    /** Up to `most` vouchers of a chain, oldest first, beginning with row `from`. */
    async listChain(rootId: number, from: number, most: number): Promise<ListedVoucher[]> {
      return Promise.all((await listChain.all(from, rootId, most)).map(toListed))
    },

    /** Insert a voucher. `definitions.take` must have counted it in the same transaction. */
    async issue(handle: Uint8Array, from: IssueFrom): Promise<void> {
      const { definitionRowId, revisionId, mintedBy, now } = from
      insert.run(handle, definitionRowId, revisionId, bytesOf(mintedBy), now)
    },

    /**
     * Redeem a voucher. The UPDATE itself checks phase, cut-off and expiry again. False if it was not spendable: the
     * operation has to be refused then, which takes back the count of the till.
     */
    async claim(voucher: Voucher, filed: Filed, now: number): Promise<boolean> {
      const hour = hourOf(now)
      const owner = bytesOf(voucher.owner)
      const by = filed.by && bytesOf(filed.by.pubkey)
      const till = filed.by?.listed ? by : null
      // Counted before, since the redemption looks for the till: a refusal takes it back.
      await tills.count(owner, till, hour)
      const ended = await claim.expectOne(
        now,
        voucher.rowId,
        owner,
        filed.zapRequest,
        filed.zapRequestId,
        filed.amountMsat,
        filed.purchase && JSON.stringify(filed.purchase),
        by,
        till,
      )
      if (!ended) return false
      countClaimed.run(voucher.definitionRowId)
      expiries.close(voucher)
      countRedeemed.run(voucher.definitionRowId, hour)
      addTotals.run(1, 0)
      return true
    },

    /**
     * Burn `old` and insert its successor. False if it was not spendable; the UPDATE itself checks it again. `fileRefresh`
     * has to follow in the same transaction.
     */
    async replace(old: Voucher, handle: Uint8Array, now: number): Promise<boolean> {
      const { rowId, definitionRowId, revisionId, rootId } = old
      const burned = await refresh.expectOne(
        now,
        rowId,
        handle,
        definitionRowId,
        revisionId,
        rootId,
      )
      if (burned) addTotals.run(0, 1)
      return burned
    },

    /** Store the answer of the refresh that burned a voucher. */
    fileRefresh(old: Voucher, { handle, keyMac, sealed }: FiledRefresh): void {
      insertRefresh.run(handle, old.rowId, keyMac, sealed)
    },

    /** The refresh that burned a voucher, or null. */
    async findRefresh(rowId: number): Promise<{ keyMac: Uint8Array; sealed: Uint8Array } | null> {
      const row = await findRefresh.get(rowId)
      return row && { keyMac: row.key_mac, sealed: row.sealed }
    },

    async totals(): Promise<Totals> {
      return (await totals.get()) ?? { issued: 0, claimed: 0, voided: 0, refreshed: 0 }
    },
  }
}

type IssueFrom = {
  definitionRowId: number
  revisionId: number
  mintedBy: string
  now: number
}
type Filed = {
  zapRequest: string | null
  zapRequestId: string | null
  amountMsat: number | null
  purchase: Money | null
  /** The key that authenticated the claim. `listed`: it is the owner's or a minter's. */
  by: { pubkey: string; listed: boolean } | null
}
/** A refresh, with the handle of the successor. */
type FiledRefresh = { handle: Uint8Array; keyMac: Uint8Array; sealed: Uint8Array }

function voucherOf(row: VoucherRow, { couponId, owner, terms }: FrozenVoucher): Voucher {
  const killed = row.phase === 'minted' && row.killed_at !== null
  return {
    rowId: row.id,
    definitionRowId: row.definition_id,
    revisionId: row.revision_id,
    rootId: row.root_id ?? row.id,
    phase: killed ? 'voided' : row.phase,
    endedAt: killed ? row.killed_at : row.ended_at,
    couponId,
    owner,
    terms,
  }
}

function toFrozen(row: FrozenRow): FrozenVoucher {
  return {
    couponId: row.uuid,
    owner: hexOf(row.owner),
    terms: {
      name: row.name,
      description: row.description,
      image: row.image,
      benefit: JSON.parse(row.benefit) as Terms['benefit'],
      expiresAt: row.expires_at,
      picture: row.picture && hexOf(row.picture),
      rules: row.rules === null ? null : (JSON.parse(row.rules) as Terms['rules']),
    },
  }
}
