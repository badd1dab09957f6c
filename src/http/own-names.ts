import { limits } from '../base/limits.ts'
import type { Machine } from '../base/machine.ts'
import { parseAddress } from '../base/network.ts'

/** The host names that mean this machine. */
export type OwnNames = {
  /** True if a client at `peer` means this machine by `hostname`, spelt as in a URL. */
  has(hostname: string, peer: string): boolean
}

const loopbackName = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/

/**
 * Names and addresses of this machine, read again now and then because DHCP changes them. If another name
 * counted, its site could make a merchant sign for this service. `localhost` counts only for clients on this
 * machine. In a container, the host connects from the default gateway. `steadyMs` reads a monotonic clock.
 */
export function createOwnNames(read: () => Machine, steadyMs: () => number): OwnNames {
  let hosts: ReadonlySet<string> = new Set()
  let gateways: ReadonlySet<string> = new Set()
  let readAt = Number.NEGATIVE_INFINITY
  const refresh = (seconds: number) => {
    if (steadyMs() - readAt < seconds * 1000) return
    const machine = read()
    hosts = new Set(machine.hosts)
    gateways = new Set(machine.gateways)
    readAt = steadyMs()
  }

  return {
    has(hostname, peer) {
      refresh(limits.ownNamesKeptSeconds)
      if (isLoopbackName(hostname)) {
        const address = parseAddress(peer)
        return address?.range() === 'loopback' || gateways.has(address?.toString() ?? '')
      }
      // An unknown name may be new.
      if (!hosts.has(hostname)) refresh(limits.ownNamesAgainSeconds)
      return hosts.has(hostname)
    },
  }
}

/** True if a host name is a loopback name. */
export function isLoopbackName(hostname: string): boolean {
  return loopbackName.test(hostname)
}
