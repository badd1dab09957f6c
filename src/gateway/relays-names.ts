import { isIP } from 'node:net'
import { limits } from '../base/limits.ts'

/** Check a relay's name before dialling. False: its lookup would make others wait; try later. */
export type NameCheck = (hostname: string) => Promise<boolean>

type LookUp = (host: string, how: { backend: 'c-ares' | 'libc' }) => Promise<unknown>

/**
 * Create the check. A dial looks its name up in the thread pool that files share: a few names with a dead
 * name server would stop the whole process. So c-ares is asked first. It needs no thread and knows
 * /etc/hosts. A name that a server answered as unknown is left to the system, because it may be of mDNS.
 * Names that end in `.local` have no name server; the system looks up one of those at a time, so that the
 * other threads stay free.
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

/** The outcome of a lookup. */
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
