import { Resolver } from 'node:dns/promises'
import { limits } from '../base/limits.ts'

/** All addresses of a host name, or none. */
export type ResolveHost = (host: string, signal: AbortSignal) => Promise<string[]>

/**
 * Build a resolver that asks the DNS servers of this machine, or `servers` (`address:port`). Not
 * `dns.lookup`: it cannot be cancelled and runs in the pool that files share, so that a few names
 * with a dead name server would stop the whole process. It follows that /etc/hosts is not read.
 */
export function createHostResolver(servers?: string[]): ResolveHost {
  return async (host, signal) => {
    const resolver = new Resolver({ timeout: limits.dnsTryMs, tries: limits.dnsTriesMax })
    if (servers !== undefined) resolver.setServers(servers)
    const cancel = () => resolver.cancel()
    signal.addEventListener('abort', cancel, { once: true })
    // A failure of one family is no failure: most names lack one of them.
    const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
    signal.removeEventListener('abort', cancel)
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
  }
}
