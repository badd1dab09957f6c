import type { Static } from '@sinclair/typebox'
import { Refusal } from '../../base/refusal.ts'
import { parsePubkey } from '../../nostr/keys.ts'
import type { NamesModel } from './models.ts'
import type { Identities } from './service.ts'

/** A NIP-05 document with one name in it, or with none. */
type Names = Static<typeof NamesModel>

/**
 * Whose name this is (NIP-05), for whoever reached us at `asked`; `_` is the service itself. Empty when
 * it is nobody's.
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

/** The same, for who wants to know whether a name is free. Refuses `identity-unknown`: it is. */
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
