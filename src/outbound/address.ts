import { isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Global unicast addresses (RFC 4291). All public hosts are in this eighth; the others are reserved. */
const globalUnicast: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3]

/**
 * True for an address of one host on the public Internet. False for all addresses in the IANA special-purpose
 * registries (private, loopback, link-local, shared, multicast, documentation …), for IPv6 with an IPv4 address
 * inside (mapped, compatible, translated, NAT64, 6to4, Teredo), for a zone id and for unusual spellings.
 */
export function publicAddress(text: string): boolean {
  const address = parseAddress(text)
  if (address instanceof ipaddr.IPv4) return address.range() === 'unicast'
  return address?.match(globalUnicast) === true && address.range() === 'unicast'
}

/** True for 127.0.0.0/8 and ::1, in their usual spelling only. */
export function loopbackAddress(text: string): boolean {
  return parseAddress(text)?.range() === 'loopback'
}

/** Read an address. Two parsers must agree on IPv6: if they read a text differently, the check could be bypassed. */
function parseAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text)
  if (text.includes('%') || !isIPv6(text) || !ipaddr.IPv6.isValid(text)) return null
  return ipaddr.IPv6.parse(text)
}
