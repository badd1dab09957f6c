import { parseJson } from '../base/json.ts'
import { limits } from '../base/limits.ts'
import { readNip05 } from '../nostr/nip05.ts'
import { type FetchPublic, OutboundError } from './fetch-public.ts'
import { createSlots } from './slots.ts'

/**
 * Resolves a NIP-05 identifier for a merchant to a public key in hex. Null if it has none. Throws OutboundError
 * `busy` if no slot is free.
 */
type ResolveNip05 = (name: string, domain: string, merchant: string) => Promise<string | null>

/** Create the resolver of NIP-05 identifiers, bounded in slots and in waiting time. */
export function createNip05Resolver(fetchPublic: FetchPublic): ResolveNip05 {
  const inTurn = createSlots(limits.nip05Slots)
  const ask = async (url: URL, name: string) => {
    try {
      const { status, body } = await fetchPublic(url, {
        deadlineMs: limits.nip05DeadlineMs,
        bodyBytesMax: limits.nip05BodyBytesMax,
      })
      const answer = status === 200 ? parseJson(body, limits.nip05BodyBytesMax) : null
      return readNip05(answer, name)
    } catch (error) {
      // Any failure of the other server means that the name does not resolve.
      if (error instanceof OutboundError) return null
      throw error
    }
  }
  return (name, domain, merchant) => {
    const url = new URL(`https://${domain}/.well-known/nostr.json`)
    url.searchParams.set('name', name)
    return inTurn({ host: url.host, merchant }, () => ask(url, name))
  }
}
