import type { Clock } from '../../base/clock.ts'
import { OperatorError } from '../../base/operator-error.ts'
import type { Database } from '../../db/database.ts'
import { npubOf, parsePubkey } from '../../nostr/keys.ts'
import { kinds } from '../../nostr/kinds.ts'
import { type Ledger, type LedgerStores, settle } from './settle.ts'
import { parseTokenText, tokenText } from './token.ts'
import { transactionTypes } from './transaction.ts'

type IssueParts = {
  ledger: Ledger
  database: Database<LedgerStores>
  now: Clock
  newId: () => string
}

/** An order of the operator; the amount as he types it: `1500.50` of a token with 2 decimals. */
export type Issue = { token: string; to: string; amount: string; memo: string | null }

/** The amount that was issued and the receiver's balance, as people write them. */
export type Issued = { token: string; npub: string; amount: string; balance: string; id: string }

/**
 * Issue tokens whose issuer is the manager key, by a transaction that is signed here. Throws
 * OperatorError when the order is not valid or the ledger refuses.
 */
export async function issue(
  { ledger, database, now, newId }: IssueParts,
  { token: name, to, amount, memo }: Issue,
): Promise<Issued> {
  const { signer, tokens } = ledger
  const token = tokens.get(name)
  if (!token) throw new OperatorError(`TOKENS names no ${name}`)
  if (token.issuer !== signer.pubkey) {
    throw new OperatorError(
      `${name} is issued by ${npubOf(token.issuer)}, not by the manager key: sign the transaction with that one`,
    )
  }
  const receiver = parsePubkey(to)
  if (receiver === null) throw new OperatorError('that is no public key: npub or hex')
  const units = parseTokenText(amount, token.decimals)
  if (units === null) {
    throw new OperatorError(`${amount} is no amount of ${name}: it has ${token.decimals} decimals`)
  }
  const start = signer.sign({
    kind: kinds.walletRegular,
    created_at: now(),
    tags: [
      ['p', signer.pubkey],
      ['p', receiver],
      ['t', transactionTypes.start],
      // Makes the id unique: two equal orders within a second are two transactions.
      ['i', newId()],
    ],
    content: JSON.stringify({ tokens: { [name]: String(units) }, ...(memo !== null && { memo }) }),
  })
  return database.transact({ roots: [{ event: start.id }] }, async (tx) => {
    const outcome = await settle(ledger, tx, start, now())
    if (outcome?.state !== 'ok') throw new OperatorError(outcome?.messages.join(' ') ?? 'refused')
    await ledger.broadcast(tx, start)
    return {
      token: name,
      npub: npubOf(receiver),
      amount: tokenText(units, token.decimals),
      balance: tokenText(await tx.ledger.balance(name, receiver), token.decimals),
      id: start.id,
    }
  })
}
