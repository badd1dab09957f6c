import { Resolver } from 'node:dns/promises'
import { limits } from '../base/limits.ts'

/** Resolves a host name to all its addresses, or none. */
export type ResolveHost = (host: string, signal: AbortSignal) => Promise<string[]>

/**
 * Create a resolver that asks the DNS servers of this machine, or `servers` (`address:port`). It does not use
 * `dns.lookup`, which cannot be cancelled and shares its thread pool with file access: a few names with a dead
 * name server would stop the whole process. A consequence: /etc/hosts is not read.
 */
export function createHostResolver(servers?: string[]): ResolveHost {
  return async (host, signal) => {
    const resolver = new Resolver({ timeout: limits.dnsTryMs, tries: limits.dnsTriesMax })
    if (servers !== undefined) resolver.setServers(servers)
    const cancel = () => resolver.cancel()
    signal.addEventListener('abort', cancel, { once: true })
    // Most names have addresses of one family only, so one failure is normal.
    const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
    signal.removeEventListener('abort', cancel)
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
  }
}
