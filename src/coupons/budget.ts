import type { Clock } from '../base/clock.ts'
import type { Database } from '../db/database.ts'
import { handleOf } from './nonce.ts'
import { spendable, type Voucher } from './voucher.ts'
import type { VoucherStore } from './voucher-store.ts'

type Lookup = { database: Database<{ vouchers: VoucherStore }>; now: Clock }

/** The request budget that a nonce draws on. Null for an unknown nonce. */
export async function budgetOf(lookup: Lookup, nonce: string) {
  const voucher = await find(lookup, nonce)
  return voucher && ofVoucher(lookup, voucher)
}

/**
 * The request budget of a refresh. A burned nonce is unbounded, because a client must always get its lost
 * answer again. Tries with a wrong key have their own limit.
 */
export async function refreshBudgetOf(lookup: Lookup, nonce: string) {
  const voucher = await find(lookup, nonce)
  return voucher?.phase === 'refreshed' ? 'unbounded' : voucher && ofVoucher(lookup, voucher)
}

/** The chain's budget while the voucher is spendable. Former holders, who know burned nonces, cannot use it up. */
function ofVoucher({ now }: Lookup, voucher: Voucher) {
  return spendable(voucher, now())
    ? ({ of: 'chain', id: voucher.rootId } as const)
    : ({ of: 'spent', id: voucher.rowId } as const)
}

function find({ database }: Lookup, nonce: string): Promise<Voucher | null> {
  return database.snapshot((tx) => tx.vouchers.find(handleOf(nonce)))
}
