/** The devices that can open an address: this one alone, those of one network, or all. */
export type Reach = 'device' | 'network' | 'public'

/** Endings of names that only one network knows (RFC 6762, RFC 8375), and what routers give out. */
const localEndings = /\.(local|lan|home|internal|localdomain|home\.arpa)$/

/**
 * Private, shared and link-local addresses (RFC 1918, RFC 6598, RFC 3927). `URL` writes every IPv4 address in four decimal
 * parts, so a pattern is enough: a library for addresses weighs more than all else of this question.
 */
const privateV4 =
  /^(0|10|172\.(1[6-9]|2\d|3[01])|192\.168|169\.254|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7]))\./

/** The devices that can open a host, as `URL.hostname` writes it. A name on the Internet may still lead into a network. */
export function hostReach(hostname: string): Reach {
  const host = hostname.toLowerCase().replace(/\.$/, '')
  if (host.startsWith('[')) return reachOfV6(host.slice(1, -1))
  if (/^[\d.]+$/.test(host)) return reachOfV4(host)
  if (host === 'localhost' || host.endsWith('.localhost')) return 'device'
  return !host.includes('.') || localEndings.test(host) ? 'network' : 'public'
}

function reachOfV4(address: string): Reach {
  if (address.startsWith('127.')) return 'device'
  return privateV4.test(address) ? 'network' : 'public'
}

/** Public hosts are in 2000::/3 (RFC 4291). `URL` writes an address with an IPv4 one inside in hexadecimal. */
function reachOfV6(address: string): Reach {
  if (address === '::1') return 'device'
  const [, high, low] = /^::ffff:([\da-f]+):([\da-f]+)$/.exec(address) ?? []
  if (high !== undefined && low !== undefined) {
    const parts = [high, low].flatMap((part) => {
      const value = Number.parseInt(part, 16)
      return [value >> 8, value & 0xff]
    })
    return reachOfV4(parts.join('.'))
  }
  return /^[23][\da-f]{3}:/.test(address) ? 'public' : 'network'
}
