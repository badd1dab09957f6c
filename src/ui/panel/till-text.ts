import type { Redemption } from '../../client/models.ts'
import { shopWords as t } from '../words/shop.ts'
import { isMinter, session } from './state.ts'

/** The till of a redemption, as the statistics count it. */
export function tillOf({ claimedBy, claimedByLabel, unlisted }: Redemption): string {
  return tillText(unlisted ? null : claimedBy, claimedByLabel)
}

/** A till for people: its name, else what is known about its key. */
export function tillText(pubkey: string | null, label: string | null): string {
  if (pubkey === null) return t('redeemed.unknown')
  if (pubkey === session.who.value?.pubkey) return t('redeemed.me')
  return label ?? t(isMinter(pubkey) ? 'tills.unnamed' : 'redeemed.other')
}
