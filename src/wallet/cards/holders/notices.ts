import { limits } from '../../../base/limits.ts'
import { sealMulti } from '../../../crypto/multi-nip04.ts'
import type { AfterCommit } from '../../../db/database.ts'
import type { Topic } from '../../../db/news.ts'
import type { NostrEvent } from '../../../nostr/event.ts'
import { kinds } from '../../../nostr/kinds.ts'
import type { CardStores, Cards } from '../service.ts'
import { configOf, dataOf } from './holdings.ts'

export type Publishing = {
  /** Queue an event of ours for every relay. */
  // A method, so that its implementation may use the stores of the gateway.
  broadcast(tx: CardStores, event: NostrEvent): Promise<void>
}

/** Wallets are owed an event about cards. */
export const noticeOwed: Topic<null> = { name: 'card.notice' }

/**
 * The wallet of a holder is owed events about its cards: it got one, lost one, or changed one. A worker publishes them
 * later, so that several changes make one pair of events.
 */
export function oweNotice(tx: CardStores & AfterCommit, holder: string): void {
  tx.holders.owe(holder)
  tx.tell(noticeOwed, null)
}

/**
 * Publish the events that a holder's wallet is owed: kind 31111, `d` = `<holder>:card-data` and `<holder>:card-config`,
 * encrypted to the holder as LaWallet reads it. Their `created_at` is `now`, later than that of the ones before.
 * Events that are too large for relays are not published: a wallet can ask for their content over HTTP.
 */
export async function publishNotice(
  { signer, nip44 }: Cards,
  tx: CardStores,
  holder: string,
  { now, broadcast }: Publishing & { now: number },
): Promise<void> {
  const changes = await tx.holders.owedTo(holder, now)
  if (changes === null) return
  const contents = {
    'card-data': await dataOf(tx, holder),
    'card-config': await configOf(tx, holder),
  }
  for (const [type, content] of Object.entries(contents)) {
    const text = JSON.stringify(content)
    if (Buffer.byteLength(text) > limits.cardNoticeBytesMax) continue
    const tags = [
      ['p', holder],
      ['t', type],
      ['d', `${holder}:${type}`],
    ]
    const sealed = sealMulti(nip44, [holder], text)
    const { walletAddressable: kind } = kinds
    await broadcast(tx, signer.sign({ kind, created_at: now, tags, content: sealed }))
  }
  tx.holders.told(holder, { changes, at: now })
}
