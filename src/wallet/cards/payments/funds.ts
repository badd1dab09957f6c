import type { Ledger } from '../../ledger/settle.ts'
import type { Funds } from '../service.ts'
import type { PaymentStores } from './payments.ts'

/** A holder's funds. The balance is unknown (null) where the ledger is elsewhere. */
export function createFunds(tokens: ReadonlyMap<string, unknown>, ledger: Ledger | null): Funds {
  return {
    tokens: () => [...tokens.keys()],
    balance: async (tx: PaymentStores, pubkey, token) =>
      ledger ? tx.ledger.balance(token, pubkey) : null,
    spent: (tx: PaymentStores, card) => tx.payments.spent(card),
  }
}
