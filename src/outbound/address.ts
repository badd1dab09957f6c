import { isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Everything the Internet hands out to hosts lies in here; the other seven eighths are special. */
const globalUnicast: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3]

/**
 * True for an address that belongs to one host on the public Internet. False for everything the
 * IANA special-purpose registries list (private, loopback, link-local, shared, multicast,
 * documentation, benchmarking …), for IPv6 that carries an IPv4 address inside (mapped, compatible,
 * translated, NAT64, 6to4, Teredo), for a zone id, and for any spelling but the strict one.
 */
export function publicAddress(text: string): boolean {
  const address = parseAddress(text)
  if (address instanceof ipaddr.IPv4) return address.range() === 'unicast'
  return address?.match(globalUnicast) === true && address.range() === 'unicast'
}

/** True for 127.0.0.0/8 and ::1, strictly spelt. */
export function loopbackAddress(text: string): boolean {
  return parseAddress(text)?.range() === 'loopback'
}

/** Two parsers must agree on IPv6, so that a quirk of one cannot mean another address to the other. */
function parseAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text)
  if (text.includes('%') || !isIPv6(text) || !ipaddr.IPv6.isValid(text)) return null
  return ipaddr.IPv6.parse(text)
}
