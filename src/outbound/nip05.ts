import { limits } from '../limits.ts'
import { readNip05 } from '../nostr/nip05.ts'
import { type FetchPublic, OutboundError } from './fetch-public.ts'
import { createSlots } from './slots.ts'

/** The key behind a NIP-05 identifier, or null when it resolves to nothing. OutboundError `busy` when too many ask. */
type ResolveNip05 = (name: string, domain: string) => Promise<string | null>

/** Build a resolver of NIP-05 identifiers over `fetchPublic`, bounded in work and in waiting. */
export function createNip05Resolver(fetchPublic: FetchPublic): ResolveNip05 {
  const slots = createSlots({
    takenMax: limits.nip05LookupsMax,
    waitingMax: limits.nip05WaitingMax,
    waitMs: limits.nip05WaitMs,
  })
  return async (name, domain) => {
    const url = new URL(`https://${domain}/.well-known/nostr.json`)
    url.searchParams.set('name', name)
    await slots.take()
    try {
      const bounds = {
        deadlineMs: limits.nip05DeadlineMs,
        bodyBytesMax: limits.nip05BodyBytesMax,
      }
      const { status, body } = await fetchPublic(url, bounds)
      return status === 200 ? readNip05(parseJson(body), name) : null
    } catch (error) {
      // Whatever the far side did, the name did not resolve.
      if (error instanceof OutboundError) return null
      throw error
    } finally {
      slots.give()
    }
  }
}

/** What the bytes say, or undefined when they are not JSON in UTF-8. */
function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch (error) {
    // TypeError: not UTF-8.
    if (error instanceof SyntaxError || error instanceof TypeError) return undefined
    throw error
  }
}
