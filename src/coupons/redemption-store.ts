import { bytesOf, hexOf } from '../base/bytes.ts'
import type { Sql } from '../db/sql.ts'
import type { Terms } from './definition.ts'
import type { Money } from './money.ts'
import type { Page } from './page.ts'

type Redemption = {
  rowId: number
  handle: Uint8Array
  claimedAt: number
  couponId: string
  terms: Pick<Terms, 'name' | 'benefit'>
  zapRequest: string | null
  zapRequestId: string | null
  amountMsat: number | null
  /** The purchase that the till named, or null. */
  purchase: Money | null
  /** The key that authenticated the claim, in hex, with the label of its minter entry. */
  claimedBy: string | null
  label: string | null
  /** Whether that key was neither the owner's nor a minter's at that time. */
  unlisted: boolean
  /** The label of the voucher. */
  recipient: string | null
}

/** The part of the voucher store that lists redemptions. */
export function createRedemptionStore(sql: Sql) {
  const listRedemptions = sql.query<
    {
      id: number
      handle: Uint8Array
      ended_at: number
      uuid: string
      name: string
      benefit: string
      zap_request: string | null
      zap_request_id: string | null
      amount_msat: number | null
      purchase: string | null
      claimed_by: Uint8Array | null
      till_id: number | null
      label: string | null
      recipient: string | null
    },
    [Uint8Array, number, number]
  >(
    `SELECT x.id, v.handle, v.ended_at, d.uuid, r.name, r.benefit, x.zap_request, x.zap_request_id,
       x.amount_msat, x.purchase, x.claimed_by, x.till_id, m.label, l.label AS recipient
     FROM redemptions x
     JOIN vouchers v ON v.id = x.voucher_id
     JOIN revisions r ON r.id = v.revision_id
     JOIN definitions d ON d.id = v.definition_id
     LEFT JOIN voucher_labels l ON l.id = coalesce(v.root_id, v.id)
     LEFT JOIN minters m ON m.owner = x.owner AND m.pubkey = x.claimed_by
     WHERE x.owner = ? AND x.id < ? ORDER BY x.id DESC LIMIT ?`,
  )

  return {
    /** One row more than the page holds, newest first. */
    async listRedemptions(owner: string, page: Page): Promise<Redemption[]> {
      const before = page.before ?? Number.MAX_SAFE_INTEGER
      return (await listRedemptions.all(bytesOf(owner), before, page.limit + 1)).map((row) => ({
        rowId: row.id,
        handle: row.handle,
        claimedAt: row.ended_at,
        couponId: row.uuid,
        terms: { name: row.name, benefit: JSON.parse(row.benefit) as Terms['benefit'] },
        zapRequest: row.zap_request,
        zapRequestId: row.zap_request_id,
        amountMsat: row.amount_msat,
        purchase: row.purchase === null ? null : (JSON.parse(row.purchase) as Money),
        claimedBy: row.claimed_by && hexOf(row.claimed_by),
        label: row.label,
        unlisted: row.claimed_by !== null && row.till_id === null,
        recipient: row.recipient,
      }))
    },
  }
}
