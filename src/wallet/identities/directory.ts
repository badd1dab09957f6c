import type { Static } from '@sinclair/typebox'
import { Refusal } from '../../base/refusal.ts'
import { parsePubkey } from '../../nostr/keys.ts'
import type { NamesModel } from './models.ts'
import type { Identities } from './service.ts'

/** A NIP-05 document with one name in it, or with none. */
type Names = Static<typeof NamesModel>

/**
 * The key of a name (NIP-05), or an empty document; `_` is the service itself. `asked` is the origin of
 * the request, which the relays' addresses may follow.
 */
export async function namesDocument(
  identities: Identities,
  text: string,
  asked: string | null,
): Promise<Names> {
  const name = text.toLowerCase()
  const pubkey =
    name === '_'
      ? identities.manager
      : (await identities.database.snapshot((tx) => tx.accounts.findByName(name)))?.pubkey
  if (pubkey === undefined) return { names: {}, relays: {} }
  return { names: { [name]: pubkey }, relays: { [pubkey]: identities.relays(asked) } }
}

/** `namesDocument` of a name that is taken. Refuses `identity-unknown` for one that is free. */
export async function takenName(
  identities: Identities,
  text: string,
  asked: string | null,
): Promise<Names> {
  const document = await namesDocument(identities, text, asked)
  if (Object.keys(document.names).length === 0) throw new Refusal('identity-unknown')
  return document
}

/** The name of a key, npub or hex. Refuses `account-unknown`. */
export async function nameOfKey({ database, federationId }: Identities, text: string) {
  const pubkey = parsePubkey(text)
  const account = pubkey && (await database.snapshot((tx) => tx.accounts.findByKey(pubkey)))
  if (!account) throw new Refusal('account-unknown')
  return { status: 'OK', username: account.name, federationId }
}
