import { type Refusal, type RefusalCode, sentenceOf } from '../../base/refusal.ts'

/** The English `reason` of the identity routes, which their clients know; else the sentence. */
const reasons: Partial<Record<RefusalCode, string>> = {
  'method-not-allowed': 'Must use POST method',
  'identity-event-invalid': 'Should send as NOSTR event',
  'identity-event-stale': 'Should send as NOSTR event',
  'identity-name-invalid': 'Name not valid',
  'identity-pubkey-invalid': 'Pubkey not valid',
  'identity-lud16-invalid': 'Lud16 not valid',
  'identity-nonce-invalid': 'Nonce not valid',
  'identity-not-authorized': 'Pubkey not authorized',
  'identity-nonce-missing': 'Nonce is missing',
  'identity-nonce-unknown': 'Nonce not found',
  'identity-nonce-burned': 'Nonce already used',
  'identity-reserved': 'Name is reserved',
  'identity-unknown': 'Not found',
  'nonce-unknown': 'Nonce not found',
  'identity-name-taken': 'Name already taken',
  'identity-pubkey-taken': 'Pubkey already assigned to an existing account',
  'nonce-burned': 'Nonce already used',
  'event-repeated': 'Event already used',
  'identity-nonce-taken': 'Nonce already exists',
  'identity-nonces-full': 'Too many unused nonces',
}

/** The reason of a refusal, in English where clients of identities and operators know it so. */
export function reasonOf(refusal: Refusal): string {
  return reasons[refusal.code] ?? sentenceOf(refusal)
}
