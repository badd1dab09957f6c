import type { Issuance } from '../../client/models.ts'
import { couponWords as t } from '../words/coupons.ts'
import { nameOfKey, session } from './state.ts'

/** The issuer of a voucher: a poster, the merchant, or a till by its label. */
export function issuerText({ poster, mintedBy: pubkey }: Issuance): string {
  if (poster !== undefined) return t('issued.poster')
  if (pubkey === session.who.value?.pubkey) return t('issued.me')
  return nameOfKey(pubkey) ?? t('issued.former')
}
