import { isIP } from 'node:net'
import { limits } from '../base/limits.ts'

/** False while a name of a relay cannot be looked up without making others wait: it is to be left for later. */
export type NameCheck = (hostname: string) => Promise<boolean>

type LookUp = (host: string, how: { backend: 'c-ares' | 'libc' }) => Promise<unknown>

/**
 * Whoever dials looks the name up in the pool of threads that files share: a few names with a dead name
 * server would stop the whole process. So c-ares is asked first, which needs no thread and knows
 * /etc/hosts. What it does not know is left to the system, as long as somebody said so: the name may be
 * of mDNS. Only a name that ends in `.local` needs no name server at all; the system is asked for one of
 * those at a time, so that the other threads stay free.
 */
export function createNameCheck(lookUp: LookUp = Bun.dns.lookup): NameCheck {
  let asking = false
  const known = async (host: string): Promise<boolean> => {
    if (asking) return false
    asking = true
    const looking = lookUp(host, { backend: 'libc' }).finally(() => {
      asking = false
    })
    return (await inTime(looking)) === 'found'
  }
  return async (hostname) => {
    const host = hostname.replace(/^\[|\]$/g, '')
    if (isIP(host) !== 0 || host === 'localhost') return true
    const answer = await inTime(lookUp(host, { backend: 'c-ares' }))
    return answer !== 'silence' || (host.endsWith('.local') && (await known(host)))
  }
}

/** What came of a lookup. */
async function inTime(looking: Promise<unknown>): Promise<'found' | 'unknown' | 'silence'> {
  const answer = looking.then(
    () => 'found' as const,
    (cause: unknown) => {
      if (!(cause instanceof Error && 'code' in cause)) throw cause
      return cause.code === 'DNS_ETIMEOUT' ? 'silence' : 'unknown'
    },
  )
  const late = Promise.withResolvers<'silence'>()
  const timer = setTimeout(() => late.resolve('silence'), limits.relayNameSeconds * 1000)
  try {
    return await Promise.race([answer, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
