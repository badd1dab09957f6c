import { limits } from '../limits.ts'
import { readNip05 } from '../nostr/nip05.ts'
import { type FetchPublic, OutboundError } from './fetch-public.ts'

/** The key behind a NIP-05 identifier, or null when it resolves to nothing. OutboundError `busy` when too many ask. */
type ResolveNip05 = (name: string, domain: string) => Promise<string | null>

/** Build a resolver of NIP-05 identifiers over `fetchPublic`, bounded in work and in waiting. */
export function createNip05Resolver(fetchPublic: FetchPublic): ResolveNip05 {
  const slots = createSlots()
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

function createSlots() {
  let taken = 0
  const waiting = new Set<() => void>()

  return {
    take(): Promise<void> {
      if (taken < limits.nip05LookupsMax) {
        taken += 1
        return Promise.resolve()
      }
      if (waiting.size >= limits.nip05WaitingMax) return Promise.reject(new OutboundError('busy'))
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          waiting.delete(proceed)
          reject(new OutboundError('busy'))
        }, limits.nip05WaitMs)
        const proceed = () => {
          clearTimeout(timer)
          resolve()
        }
        waiting.add(proceed)
      })
    },
    /** Hand the slot to whoever waits longest, or free it. */
    give(): void {
      const [next] = waiting
      if (next === undefined) {
        taken -= 1
        return
      }
      waiting.delete(next)
      next()
    },
  }
}
