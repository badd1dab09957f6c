import { Refusal } from '../../base/refusal.ts'
import { createSealToHolder } from '../../crypto/seal-to-holder.ts'
import { tagValue } from '../../nostr/event.ts'
import { parsePubkey } from '../../nostr/keys.ts'
import type { WalletRequest } from '../request.ts'
import { readIdentityRequest } from './identity-request.ts'
import { type CallbackRules, parseLud16 } from './lud16.ts'
import { isReserved, parseName } from './name.ts'
import { nonceHash } from './nonces.ts'
import type { Identities, IdentityStores } from './service.ts'

/** An identity that is not registered yet. */
type NewIdentity = { name: string; pubkey: string; lud16: Record<string, unknown> | null }

type Registered = { id: string; pubkey: string }

/**
 * Register an identity at an issuer's request, or at its holder's where sign-up is open; its nonce is
 * burned with it. `hosts` are this service's own. Refuses `identity-event-invalid`,
 * `identity-event-stale`, `identity-name-invalid`, `identity-pubkey-invalid`,
 * `identity-lud16-invalid`, `identity-not-authorized`, `identity-nonce-missing`, `disk-low`,
 * `identity-nonce-unknown`, `identity-nonce-burned`, `identity-reserved`, `identity-name-taken`,
 * `identity-pubkey-taken`.
 */
export async function registerIdentity(
  identities: Identities,
  value: unknown,
  hosts: readonly string[],
): Promise<Registered> {
  const request = readIdentityRequest(identities, value, ['create-identity'])
  const { issuers, selfSignup, database, usable } = identities
  const wanted = readWanted(request, selfSignup, { hosts, usable })
  const { author } = request
  if (!issuers.has(author) && !(selfSignup && author === wanted.pubkey)) {
    throw new Refusal('identity-not-authorized')
  }
  const nonce = nonceOf(request)
  if (nonce === null) throw new Refusal('identity-nonce-missing')
  identities.requireDisk()
  const roots = [{ nonce: nonceHash(nonce) }, { holder: wanted.pubkey }]
  return database.transact({ roots }, async (tx) => {
    const now = identities.now()
    const found = await tx.nonces.find(nonceHash(nonce))
    if (!found) throw new Refusal('identity-nonce-unknown')
    if (found.burned) throw new Refusal('identity-nonce-burned')
    if (isReserved(wanted.name, identities.reserved)) throw new Refusal('identity-reserved')
    // A refusal after this undoes the burn: the nonce can be used for another name.
    if (!(await tx.nonces.burn(found.id, now))) throw new Refusal('identity-nonce-burned')
    return addAccount(identities, tx, { ...wanted, nonceId: found.id, createdBy: author })
  })
}

/** Write an identity down. Refuses `identity-name-taken`, `identity-pubkey-taken`. */
export async function addAccount(
  { newId, now }: Pick<Identities, 'newId' | 'now'>,
  tx: IdentityStores,
  account: NewIdentity & { nonceId: number | null; createdBy: string },
): Promise<Registered> {
  if (await tx.accounts.findByName(account.name)) throw new Refusal('identity-name-taken')
  if (await tx.accounts.findByKey(account.pubkey)) throw new Refusal('identity-pubkey-taken')
  const uuid = newId()
  await tx.accounts.insert({ ...account, uuid, createdAt: now() })
  return { id: uuid, pubkey: account.pubkey }
}

/** Identity that a request asks for. With sign-up the key may be the signer's and the name a tag. */
function readWanted(request: WalletRequest, selfSignup: boolean, rules: CallbackRules) {
  const content = request.content ?? {}
  const own = selfSignup ? { name: tagValue(request.event, 'name'), pubkey: request.author } : null
  const name = content.name ?? own?.name
  const pubkey = content.pubkey ?? own?.pubkey
  if (name === undefined || pubkey === undefined) throw new Refusal('identity-event-invalid')
  return {
    name: parseName(name),
    pubkey: parseHolder(pubkey),
    lud16: parseLud16(content.lud16, rules),
  }
}

/**
 * The key that an identity is for. Refuses `identity-pubkey-invalid`, also for a key off the curve, since
 * no voucher can be sealed to it.
 */
export function parseHolder(value: unknown): string {
  const pubkey = typeof value === 'string' ? parsePubkey(value) : null
  if (pubkey === null || !createSealToHolder(pubkey)) throw new Refusal('identity-pubkey-invalid')
  return pubkey
}

function nonceOf({ event, content }: WalletRequest): string | null {
  const nonce = tagValue(event, 'nonce') ?? content?.nonce
  return typeof nonce === 'string' && nonce !== '' ? nonce : null
}
