import type { Clock } from '../base/clock.ts'
import type { Database } from '../db/database.ts'
import { handleOf } from './nonce.ts'
import { spendable, type Voucher } from './voucher.ts'
import type { VoucherStore } from './voucher-store.ts'

type Lookup = { database: Database<{ vouchers: VoucherStore }>; now: Clock }

/** The budget of a nonce; null for one that nobody was given. */
export async function budgetOf(lookup: Lookup, nonce: string) {
  const voucher = await find(lookup, nonce)
  return voucher && ofVoucher(lookup, voucher)
}

/** The same for a refresh: its repetition under the key is never refused, and wrong keys are counted anyway. */
export async function refreshBudgetOf(lookup: Lookup, nonce: string) {
  const voucher = await find(lookup, nonce)
  return voucher?.phase === 'refreshed' ? 'unbounded' : voucher && ofVoucher(lookup, voucher)
}

/** Budget of the chain while the voucher is spendable. Former holders know burned nonces only, so they cannot use it up. */
function ofVoucher({ now }: Lookup, voucher: Voucher) {
  return spendable(voucher, now())
    ? ({ of: 'chain', id: voucher.rootId } as const)
    : ({ of: 'spent', id: voucher.rowId } as const)
}

function find({ database }: Lookup, nonce: string): Promise<Voucher | null> {
  return database.snapshot((tx) => tx.vouchers.find(handleOf(nonce)))
}
