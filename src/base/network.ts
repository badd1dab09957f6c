import ipaddr from 'ipaddr.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6
export type Network = readonly [address: Address, bits: number]

/** Read an IP address. An IPv4-mapped IPv6 address becomes IPv4. Null for other text. */
export function parseAddress(text: string): Address | null {
  return ipaddr.isValid(text) ? ipaddr.process(text) : null
}

/** Read a network in CIDR notation. One address is a network of its own. Null for other text. */
export function parseNetwork(text: string): Network | null {
  if (ipaddr.isValidCIDR(text)) return ipaddr.parseCIDR(text)
  const address = parseAddress(text)
  return address && [address, address.kind() === 'ipv6' ? 128 : 32]
}

export function within(address: Address, [network, bits]: Network): boolean {
  return address.kind() === network.kind() && address.match(network, bits)
}

/** Matches the unspecified address in the URL of a server that listens on all interfaces. No client can use it. */
export const unspecifiedAddress = /(?<=^https?:\/\/)(0\.0\.0\.0|\[::\])(?=[:/]|$)/
