import { existsSync, readFileSync } from 'node:fs'
import { hostname, type NetworkInterfaceInfo, networkInterfaces } from 'node:os'
import { parseAddress } from './network.ts'

/** What other devices may call this machine by, as it is now. */
export type Machine = {
  /** Names and addresses, as the host of a URL is spelt; without those of the loopback. */
  hosts: readonly string[]
  /** Whether this is a container; one that uses the network of its host counts, too. */
  container: boolean
  /** In a container: its default gateways, where connections of the container's host come from. */
  gateways: readonly string[]
}

/** Ask the system anew. */
export function readMachine(): Machine {
  const container = isContainer()
  const addresses = readInterfaces().flatMap(({ address }) => hostOf(address) ?? [])
  return {
    hosts: [...new Set([...ownNames(), ...addresses])],
    container,
    gateways: container ? readGateways() : [],
  }
}

/** Addresses of all interfaces. A sandbox may forbid to ask (systemd: no AF_NETLINK). */
export function readInterfaces(): NetworkInterfaceInfo[] {
  try {
    return Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  } catch {
    return []
  }
}

/** The machine's name as one label that a certificate can hold. */
export function machineName(): string {
  const [label = ''] = hostname().toLowerCase().split('.')
  const [plain = 'cuponera'] =
    /[a-z0-9](?:.*[a-z0-9])?/.exec(label.replace(/[^a-z0-9-]/g, '-')) ?? []
  return plain.slice(0, 63)
}

/** Gateways of the default routes in the text of `/proc/net/route`: hex, the last byte first. */
export function parseRoutes(text: string): string[] {
  return text.split('\n').flatMap((line) => {
    const [, destination, gateway = ''] = line.split('\t')
    if (destination !== '00000000' || !/^[0-9A-F]{8}$/.test(gateway)) return []
    const address = [...Uint8Array.fromHex(gateway)].reverse().join('.')
    return address === '0.0.0.0' ? [] : [address]
  })
}

/** The same in `/proc/net/ipv6_route`. */
export function parseRoutes6(text: string): string[] {
  const unset = '0'.repeat(32)
  return text.split('\n').flatMap((line) => {
    const [destination, bits, , , gateway = ''] = line.split(/ +/)
    if (destination !== unset || bits !== '00' || !/^[0-9a-f]{32}$/.test(gateway)) return []
    const address = parseAddress(gateway.replace(/(.{4})(?!$)/g, '$1:'))
    return gateway === unset || !address ? [] : [address.toString()]
  })
}

/** The whole host name, its first label, and what mDNS makes of that. */
function ownNames(): string[] {
  const whole = hostname().toLowerCase()
  const [label = ''] = whole.split('.')
  // A machine without a name of its own says localhost, which is every machine's.
  if (label === '' || label === 'localhost') return []
  const names = [whole, label, `${label}.local`, machineName(), `${machineName()}.local`]
  return names.flatMap((name) => hostOf(name) ?? [])
}

/** The host of a URL to this name or address; null for what no URL can hold, and for the loopback. */
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

/** The text of a file of the system, or nothing where there is none. */
function readOr(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
