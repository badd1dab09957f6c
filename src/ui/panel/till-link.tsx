import { npubOf } from '../../nostr/keys.ts'
import { ButtonLink } from '../parts/button.tsx'
import { adoptShop, tillAddress } from '../state/shops.ts'
import { session } from './state.ts'

type Props = {
  kind?: 'primary'
  /** A coupon that the till shows at once. */
  nonce?: string
  onOpen?: () => void
  children: string
}

/** Opens the till on this device. A till without a shop gets this merchant's: the sign-in here is the proof. */
export function TillLink({ kind, nonce, onOpen, children }: Props) {
  const pubkey = session.who.value?.pubkey
  if (!pubkey) return null
  const npub = npubOf(pubkey)
  return (
    <ButtonLink
      {...(kind && { kind })}
      icon="shop"
      href={tillAddress(npub, nonce)}
      newTab
      onClick={() => {
        adoptShop(npub)
        onOpen?.()
      }}
    >
      {children}
    </ButtonLink>
  )
}
