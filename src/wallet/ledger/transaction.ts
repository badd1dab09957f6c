import { limits } from '../../base/limits.ts'
import { ledgerRefusal } from '../../base/refusal.ts'
import { authorThrough, type VerifyHash } from '../../nostr/delegation.ts'
import { contentObject, type NostrEvent, type Signer, tagValue } from '../../nostr/event.ts'
import { expirationOf } from '../../nostr/kind-class.ts'
import { kinds } from '../../nostr/kinds.ts'
import { parseAmounts } from './amount.ts'
import type { Token } from './token.ts'

/** The first `t` tag of a ledger's events of kind 1112. */
export const transactionTypes = {
  start: 'internal-transaction-start',
  ok: 'internal-transaction-ok',
  error: 'internal-transaction-error',
} as const

/** The transaction that a start event asks for. */
export type Transaction = {
  /** Hex; with a delegation the delegator. */
  sender: string
  receiver: string
  amounts: ReadonlyMap<string, bigint>
  memo: string | null
}

type Reading = {
  /** The ledger's key. */
  ledger: string
  verifyHash: VerifyHash
  tokens: ReadonlyMap<string, Token>
  now: number
}

/** True for a start event that addresses this ledger. */
export function addresses(event: NostrEvent, ledger: string): boolean {
  return (
    event.kind === kinds.walletRegular &&
    tagValue(event, 't') === transactionTypes.start &&
    tagValue(event, 'p') === ledger
  )
}

/**
 * The transaction in a start event that was verified and addresses this ledger. Refuses as
 * `ledgerRefusal` does.
 */
export function readTransaction(start: NostrEvent, reading: Reading): Transaction {
  const { ledger, verifyHash, tokens, now } = reading
  // Only this service signs for others (card payments), after it checked the card and its limits.
  const sender = authorThrough(ledger, start, verifyHash)
  if (sender === null) throw ledgerRefusal('delegation-invalid')
  const [, second] = start.tags.filter(([name]) => name === 'p')
  const receiver = second?.[1] ?? ''
  if (!hex32.test(receiver) || receiver === sender) throw ledgerRefusal('receiver-invalid')
  if ((expirationOf(start) ?? Infinity) <= now) throw ledgerRefusal('transaction-expired')
  const content = parseContent(start.content)
  const amounts = parseAmounts(content?.tokens)
  if (!content || !amounts) throw ledgerRefusal('tokens-invalid')
  for (const name of amounts.keys()) {
    if (!tokens.has(name)) throw ledgerRefusal('token-unknown')
  }
  const memo =
    typeof content.memo === 'string'
      ? content.memo.slice(0, limits.memoCharsMax).toWellFormed()
      : null
  return { sender, receiver, amounts, memo }
}

const hex32 = /^[0-9a-f]{64}$/

/** The JSON object in a content; null when there is none or the content is too long. */
export function parseContent(text: string): Record<string, unknown> | null {
  return text.length > limits.transactionCharsMax ? null : contentObject(text)
}

/** The ledger's ok: it names both sides and repeats the content of the start event. */
export function createOk(
  signer: Signer,
  start: NostrEvent,
  { sender, receiver }: Transaction,
  now: number,
): NostrEvent {
  return signer.sign({
    kind: kinds.walletRegular,
    created_at: now,
    tags: [
      ['p', sender],
      ['p', receiver],
      ['e', start.id],
      ['t', transactionTypes.ok],
      ...repeated(start),
    ],
    content: start.content,
  })
}

/** The ledger's error, in words for people. With `expiresAt` relays delete it then (NIP-40). */
export function createError(
  signer: Signer,
  start: NostrEvent,
  messages: readonly string[],
  { now, expiresAt }: { now: number; expiresAt: number | null },
): NostrEvent {
  const [, second] = start.tags.filter(([name]) => name === 'p')
  const receiver = hex32.test(second?.[1] ?? '') ? [['p', second?.[1] ?? '']] : []
  const delegator = tagValue(start, 'delegation') ?? ''
  return signer.sign({
    kind: kinds.walletRegular,
    created_at: now,
    tags: [
      ['p', hex32.test(delegator) ? delegator : start.pubkey],
      ...receiver,
      ['e', start.id],
      ['t', transactionTypes.error],
      ...(expiresAt === null ? [] : [['expiration', String(expiresAt)]]),
      ...repeated(start),
    ],
    content: JSON.stringify({ messages }),
  })
}

/** Tags of a start event that its answer repeats, so that a client finds the answer by its own tags. */
function repeated(start: NostrEvent): string[][] {
  return start.tags
    .filter(([name]) => name === 'e' || name === 'bolt11')
    .map(([name = '', value = '']) => [name, value])
    .filter(([, value = '']) => value !== '' && value.length <= limits.repeatedTagCharsMax)
    .slice(0, limits.repeatedTagsMax)
}

type Balance = { token: string; pubkey: string; balance: bigint; cause: string; createdAt: number }

/** A balance event: the balance of an account now. */
export function createBalance(signer: Signer, balance: Balance): NostrEvent {
  return signer.sign({
    kind: kinds.walletAddressable,
    created_at: balance.createdAt,
    tags: [
      ['p', balance.pubkey],
      ['e', balance.cause],
      ['d', `balance:${balance.token}:${balance.pubkey}`],
      ['amount', String(balance.balance)],
    ],
    content: '{}',
  })
}
