import ipaddr from 'ipaddr.js'

/** The devices that can open an address: this one alone, those of one network, or all. */
export type Reach = 'device' | 'network' | 'public'

/** Endings of names that only one network knows (RFC 6762, RFC 8375), and what routers give out. */
const localEndings = /\.(local|lan|home|internal|localdomain|home\.arpa)$/

/** The devices that can open a host, as `URL.hostname` writes it. A name on the Internet may still lead into a network. */
export function hostReach(hostname: string): Reach {
  const host = hostname.toLowerCase().replace(/^\[|\]$|\.$/g, '')
  if (ipaddr.isValid(host)) {
    const range = ipaddr.process(host).range()
    return range === 'loopback' ? 'device' : range === 'unicast' ? 'public' : 'network'
  }
  if (host === 'localhost' || host.endsWith('.localhost')) return 'device'
  return !host.includes('.') || localEndings.test(host) ? 'network' : 'public'
}
