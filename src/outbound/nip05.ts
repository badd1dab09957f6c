import { parseJson } from '../base/json.ts'
import { limits } from '../base/limits.ts'
import { readNip05 } from '../nostr/nip05.ts'
import { type FetchPublic, OutboundError } from './fetch-public.ts'
import { createSlots } from './slots.ts'

/**
 * The key behind a NIP-05 identifier that a merchant has looked up, or null when it resolves to
 * nothing. OutboundError `busy` when too many ask.
 */
type ResolveNip05 = (name: string, domain: string, merchant: string) => Promise<string | null>

/** Build a resolver of NIP-05 identifiers over `fetchPublic`, bounded in work and in waiting. */
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
      // Whatever the far side did, the name did not resolve.
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
