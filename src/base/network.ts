import ipaddr from 'ipaddr.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6
export type Network = readonly [address: Address, bits: number]

/** An IP address, IPv4-mapped IPv6 as the IPv4 it is; null for anything else. */
export function parseAddress(text: string): Address | null {
  return ipaddr.isValid(text) ? ipaddr.process(text) : null
}

/** A network in CIDR, or one address as a network of itself; null for anything else. */
export function parseNetwork(text: string): Network | null {
  if (ipaddr.isValidCIDR(text)) return ipaddr.parseCIDR(text)
  const address = parseAddress(text)
  return address && [address, address.kind() === 'ipv6' ? 128 : 32]
}

export function within(address: Address, [network, bits]: Network): boolean {
  return address.kind() === network.kind() && address.match(network, bits)
}

/** In the URL of a server that listens on every address of its machine: the one that nobody can reach. */
export const everyAddress = /(?<=^https?:\/\/)(0\.0\.0\.0|\[::\])(?=[:/]|$)/
