import { limits } from '../../base/limits.ts'
import { Refusal } from '../../base/refusal.ts'
import type { Database } from '../../db/database.ts'
import { npubOf, parsePubkey } from '../../nostr/keys.ts'
import type { Caller } from '../../session/caller.ts'
import { amountView } from './amount.ts'
import type { LedgerStores } from './settle.ts'

export type Books = { database: Database<LedgerStores> }

/**
 * The balances of a key and its last movements. The key itself sees all of them, an issuer those of its
 * tokens. Refuses `account-unknown` (no key), `account-not-yours`.
 */
export async function balances({ database }: Books, caller: Caller, key: string) {
  const pubkey = parsePubkey(key)
  if (pubkey === null) throw new Refusal('account-unknown')
  return database.snapshot(async (tx) => {
    const tokens = await tx.ledger.tokens()
    const shown = tokens.filter(
      ({ issuer }) => pubkey === caller.pubkey || issuer === caller.pubkey,
    )
    if (pubkey !== caller.pubkey && shown.length === 0) throw new Refusal('account-not-yours')
    const terms = new Map(shown.map((token) => [token.name, token]))
    const accounts = (await tx.ledger.accountsOf(pubkey)).flatMap((account) => {
      const token = terms.get(account.token)
      return token ? [{ ...account, terms: token }] : []
    })
    const most = limits.movementsShownMax
    const movements = []
    for (const account of accounts) {
      movements.push(...(await tx.ledger.movements(account, Number.MAX_SAFE_INTEGER, most)))
    }
    return {
      pubkey,
      npub: npubOf(pubkey),
      balances: accounts.map(({ token, balance, terms: { decimals, issuer } }) => ({
        token,
        decimals,
        issuer: npubOf(issuer),
        amount: amountView(balance),
      })),
      movements: movements
        .sort((a, b) => b.id - a.id)
        .slice(0, most)
        .map(({ eventId, token, amount, counterparty, memo, at }) => ({
          id: eventId,
          token,
          amount: amountView(amount),
          counterparty: npubOf(counterparty),
          memo,
          at,
        })),
    }
  })
}
