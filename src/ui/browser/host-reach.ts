/** The devices that can open an address: this one alone, those of one network, or all. */
export type Reach = 'device' | 'network' | 'public'

/** Endings of names that only one network knows (RFC 6762, RFC 8375), and what routers give out. */
const localEndings = /\.(local|lan|home|internal|localdomain|home\.arpa)$/

/** This machine, and the addresses of one network, of IPv4 (RFC 1122, RFC 1918, RFC 3927, RFC 6598). */
const ownFour = /^127\./
const networkFour =
  /^(0\.|10\.|192\.168\.|169\.254\.|172\.(1[6-9]|2\d|3[01])\.|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.)/
/** The same of IPv6: local to the link (RFC 4291) or unique to the network (RFC 4193). */
const networkSix = /^(::$|f[cd][\da-f]{2}:|fe[89ab][\da-f]:)/

/**
 * The devices that can open a host, as `URL.hostname` writes it: digits in decimal, IPv6 in its short form. A name on
 * the Internet may still lead into a network. The service's library for addresses would add 5 KB to each page.
 */
export function hostReach(hostname: string): Reach {
  const host = hostname.toLowerCase().replace(/^\[|\]$|\.$/g, '')
  const four = /^[\d.]+$/.test(host) ? host : mappedFour(host)
  if (four !== null) {
    return ownFour.test(four) ? 'device' : networkFour.test(four) ? 'network' : 'public'
  }
  if (host.includes(':')) {
    return host === '::1' ? 'device' : networkSix.test(host) ? 'network' : 'public'
  }
  if (host === 'localhost' || host.endsWith('.localhost')) return 'device'
  return !host.includes('.') || localEndings.test(host) ? 'network' : 'public'
}

/** The IPv4 address inside of an IPv6 one (RFC 4291, 2.5.5.2), which a URL writes as two groups; else null. */
function mappedFour(host: string): string | null {
  const [, high, low] = /^::ffff:([\da-f]{1,4}):([\da-f]{1,4})$/.exec(host) ?? []
  if (high === undefined || low === undefined) return null
  const bytes = [high, low].flatMap((group) => {
    const value = Number.parseInt(group, 16)
    return [value >> 8, value & 255]
  })
  return bytes.join('.')
}
