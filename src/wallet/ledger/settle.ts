import { limits } from '../../base/limits.ts'
import { isLedgerRefusal, ledgerRefusal, sentenceOf } from '../../base/refusal.ts'
import type { Locking } from '../../db/database.ts'
import type { VerifyHash } from '../../nostr/delegation.ts'
import type { NostrEvent, Signer } from '../../nostr/event.ts'
import type { Account, LedgerStore, Outcome } from './store.ts'
import type { Token } from './token.ts'
import {
  addresses,
  createBalance,
  createError,
  createOk,
  readTransaction,
  type Transaction,
} from './transaction.ts'

export type LedgerStores = { ledger: LedgerStore }

/** The embedded ledger; put together by `app/ledger.ts`. */
export type Ledger = {
  /** The manager key, which is the ledger's. */
  signer: Signer
  verifyHash: VerifyHash
  tokens: ReadonlyMap<string, Token>
  /** Queue an event of ours for every relay, in the transaction that causes it. */
  // A method, so that its implementation may use stores of the transaction that this folder does not know.
  broadcast(tx: LedgerStores, event: NostrEvent): Promise<void>
}

/**
 * Settle a start event whose id and signature were verified, inside the caller's transaction: the
 * money moves and the answer is queued for the relays, both or neither. A repeated event gets the stored
 * outcome. Null for an event that is not for this ledger, too old, or from the future: it gets no answer.
 */
export async function settle(
  ledger: Ledger,
  tx: LedgerStores & Locking,
  start: NostrEvent,
  now: number,
): Promise<Outcome | null> {
  if (!addresses(start, ledger.signer.pubkey)) return null
  const known = await tx.ledger.outcome(start.id)
  if (known) return known
  const age = now - start.created_at
  if (age > limits.transactionSeconds || age < -limits.requestWindowSeconds) return null
  try {
    const transaction = await examine(ledger, tx, start, now)
    return await book(ledger, tx, { start, transaction, now })
  } catch (cause) {
    if (!isLedgerRefusal(cause)) throw cause
    return refuse(ledger, tx, start, { messages: [sentenceOf(cause)], now })
  }
}

/**
 * The transaction of a start event of this ledger, if it can be settled now. Refuses as `ledgerRefusal`
 * does; writes nothing.
 */
export async function examine(
  ledger: Ledger,
  tx: LedgerStores & Locking,
  start: NostrEvent,
  now: number,
): Promise<Transaction> {
  const { signer, verifyHash, tokens } = ledger
  const reading = { ledger: signer.pubkey, verifyHash, tokens, now }
  const transaction = readTransaction(start, reading)
  const { sender, receiver, amounts } = transaction
  const balancesOf = (key: string) => [...amounts.keys()].map((token) => ({ balance: key, token }))
  const terms = [...amounts.keys()].map((token) => ({ terms: token, mode: 'shared' as const }))
  await tx.lock(...terms, ...balancesOf(sender), ...balancesOf(receiver))
  await requireFunds(ledger, tx, transaction)
  return transaction
}

type Booking = { start: NostrEvent; transaction: Transaction; now: number }

/** Settle a new start event that the same transaction has examined. */
export async function book(
  ledger: Ledger,
  tx: LedgerStores,
  { start, transaction, now }: Booking,
): Promise<Outcome> {
  // It must succeed: balances that were read cannot change inside one transaction.
  const answer = createOk(ledger.signer, start, transaction, now)
  const { sender, receiver, amounts, memo } = transaction
  const movement = await tx.ledger.settle({
    eventId: start.id,
    answerId: answer.id,
    sender,
    receiver,
    memo,
    now,
  })
  await ledger.broadcast(tx, answer)
  for (const [token, amount] of amounts) {
    for (const [pubkey, change] of [
      [sender, -amount],
      [receiver, amount],
    ] as const) {
      const { id } = await tx.ledger.open(token, pubkey)
      const account = await tx.ledger.add(movement, id, change)
      if (!account) throw new Error('funds that were there are gone within one transaction')
      await publishBalance(ledger, tx, account, { cause: start.id, now })
    }
  }
  return { state: 'ok', answerId: answer.id }
}

/** Refuses unless the sender has every amount (an issuer always has) and no balance leaves its bounds. */
async function requireFunds(
  { tokens }: Ledger,
  tx: LedgerStores,
  { sender, receiver, amounts }: Transaction,
): Promise<void> {
  for (const [token, amount] of amounts) {
    const has = await tx.ledger.balance(token, sender)
    if (has < amount && tokens.get(token)?.issuer !== sender) {
      throw ledgerRefusal('funds-insufficient', token)
    }
    const then = (await tx.ledger.balance(token, receiver)) + amount
    if (has - amount < -limits.tokenBalanceMax || then > limits.tokenBalanceMax) {
      throw ledgerRefusal('balance-too-large', token)
    }
  }
}

async function refuse(
  ledger: Ledger,
  tx: LedgerStores,
  start: NostrEvent,
  { messages, now }: { messages: string[]; now: number },
): Promise<Outcome> {
  // Errors to owners stay on relays for ever. Those to other keys expire: any new key can cause them.
  const owner = await takesPart(ledger, tx, start.pubkey)
  const expiresAt = owner ? null : now + limits.transactionSeconds
  const answer = createError(ledger.signer, start, messages, { now, expiresAt })
  // Later the event itself is too old, so a repeat is not looked at.
  const forgetAt = start.created_at + limits.transactionSeconds + limits.requestWindowSeconds
  await tx.ledger.refuse(start.id, { answerId: answer.id, messages, forgetAt })
  await ledger.broadcast(tx, answer)
  return { state: 'error', answerId: answer.id, messages }
}

/** True for a key that has an account here or issues a token. */
async function takesPart(
  { signer, tokens }: Ledger,
  tx: LedgerStores,
  pubkey: string,
): Promise<boolean> {
  if (pubkey === signer.pubkey) return true
  if ([...tokens.values()].some(({ issuer }) => issuer === pubkey)) return true
  return (await tx.ledger.accountsOf(pubkey)).length > 0
}

/**
 * Publish the balance of an account. Each event of an account is a second later than the one before, or
 * relays would keep the older one. An event that would be too far ahead of the clock is owed instead.
 */
async function publishBalance(
  ledger: Ledger,
  tx: LedgerStores,
  account: Account,
  { cause, now }: { cause: string; now: number },
): Promise<void> {
  const createdAt = Math.max(now, account.publishedAt + 1)
  if (createdAt > now + limits.balanceAheadSeconds) return tx.ledger.postpone(account.id, cause)
  await ledger.broadcast(tx, createBalance(ledger.signer, { ...account, cause, createdAt }))
  await tx.ledger.published(account.id, createdAt)
}

/** Publish some of the balances that are owed; the result is their number. */
export async function publishOwed(
  ledger: Ledger,
  tx: LedgerStores & Locking,
  now: number,
): Promise<number> {
  const seen = await tx.ledger.stale(now, limits.owedBalancesMax)
  await tx.lock(...seen.map(({ pubkey, token }) => ({ balance: pubkey, token })))
  // Another operation may have published one of them, or moved its balance.
  const locked = new Set(seen.map(({ id }) => id))
  const owed = await tx.ledger.stale(now, limits.owedBalancesMax)
  for (const { cause, ...account } of owed.filter(({ id }) => locked.has(id))) {
    await publishBalance(ledger, tx, account, { cause, now })
  }
  return owed.length
}
