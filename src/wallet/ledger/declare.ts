import { OperatorError } from '../../base/operator-error.ts'
import type { Database } from '../../db/database.ts'
import type { LedgerStores } from './settle.ts'
import type { Token } from './token.ts'

/** Store the terms of the tokens. Throws OperatorError when accounts were opened with others. */
export async function declareTokens(
  database: Database<LedgerStores>,
  tokens: ReadonlyMap<string, Token>,
): Promise<void> {
  const declared = await database.snapshot((tx) => tx.ledger.tokens())
  for (const token of tokens.values()) {
    if (declared.some((known) => Bun.deepEquals(known, token))) continue
    const roots = [{ terms: token.name, mode: 'changed' }] as const
    if (await database.transact({ roots }, (tx) => tx.ledger.declare(token))) continue
    throw new OperatorError(
      `TOKENS: ${token.name} has accounts with other decimals or another issuer: set those again, or give the new one another name`,
    )
  }
}
