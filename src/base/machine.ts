import { existsSync, readFileSync } from 'node:fs'
import { hostname, type NetworkInterfaceInfo, networkInterfaces } from 'node:os'
import { parseAddress } from './network.ts'

/** The current names and addresses of this machine. */
export type Machine = {
  /** Names and addresses in the form of a URL's host, without loopback ones. */
  hosts: readonly string[]
  /** True in a container, also if it uses the network of its host. */
  container: boolean
  /** Default gateways of a container. Connections from the container's host come from them. */
  gateways: readonly string[]
}

/** Read names and addresses from the system, without a cache. */
export function readMachine(): Machine {
  const container = isContainer()
  const addresses = readInterfaces().flatMap(({ address }) => hostOf(address) ?? [])
  return {
    hosts: [...new Set([...ownNames(), ...addresses])],
    container,
    gateways: container ? readGateways() : [],
  }
}

/** Addresses of all interfaces. None if a sandbox forbids the question (systemd without AF_NETLINK). */
export function readInterfaces(): NetworkInterfaceInfo[] {
  try {
    return Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  } catch {
    return []
  }
}

/** The host name as one DNS label (RFC 1035), for a certificate. */
export function machineName(): string {
  const [label = ''] = hostname().toLowerCase().split('.')
  const [plain = 'cuponera'] =
    /[a-z0-9](?:.*[a-z0-9])?/.exec(label.replace(/[^a-z0-9-]/g, '-')) ?? []
  return plain.slice(0, 63)
}

/** Gateways of the default routes in the text of `/proc/net/route`. Addresses are little-endian hex. */
export function parseRoutes(text: string): string[] {
  return text.split('\n').flatMap((line) => {
    const [, destination, gateway = ''] = line.split('\t')
    if (destination !== '00000000' || !/^[0-9A-F]{8}$/.test(gateway)) return []
    const address = [...Uint8Array.fromHex(gateway)].reverse().join('.')
    return address === '0.0.0.0' ? [] : [address]
  })
}

/** Gateways of the default routes in the text of `/proc/net/ipv6_route`. */
export function parseRoutes6(text: string): string[] {
  const unset = '0'.repeat(32)
  return text.split('\n').flatMap((line) => {
    const [destination, bits, , , gateway = ''] = line.split(/ +/)
    if (destination !== unset || bits !== '00' || !/^[0-9a-f]{32}$/.test(gateway)) return []
    const address = parseAddress(gateway.replace(/(.{4})(?!$)/g, '$1:'))
    return gateway === unset || !address ? [] : [address.toString()]
  })
}

/** The host name, its first label, and their mDNS names (`.local`). */
function ownNames(): string[] {
  const whole = hostname().toLowerCase()
  const [label = ''] = whole.split('.')
  // A machine without a configured name calls itself localhost, which other devices resolve to themselves.
  if (label === '' || label === 'localhost') return []
  const names = [whole, label, `${label}.local`, machineName(), `${machineName()}.local`]
  return names.flatMap((name) => hostOf(name) ?? [])
}

/** A name or address in the form of a URL's host. Null if no URL can hold it, and for loopback addresses. */
function hostOf(text: string): string | null {
  const address = parseAddress(text.split('%', 1)[0] ?? '')
  if (address?.range() === 'loopback') return null
  const host = address?.kind() === 'ipv6' ? `[${address}]` : (address?.toString() ?? text)
  return URL.parse(`http://${host}`)?.hostname || null
}

function isContainer(): boolean {
  if (existsSync('/.dockerenv') || existsSync('/run/.containerenv')) return true
  return /docker|containerd|kubepods|libpod/.test(readOr('/proc/1/cgroup'))
}

function readGateways(): string[] {
  return [
    ...parseRoutes(readOr('/proc/net/route')),
    ...parseRoutes6(readOr('/proc/net/ipv6_route')),
  ]
}

/** The text of a system file, or '' if it cannot be read. */
function readOr(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
