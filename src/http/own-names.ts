import { limits } from '../base/limits.ts'
import type { Machine } from '../base/machine.ts'
import { parseAddress } from '../base/network.ts'

/** Which hosts of a URL are this machine's own. */
export type OwnNames = {
  /** True when a client at `peer` means this machine by `hostname`, which is spelt as URLs do. */
  has(hostname: string, peer: string): boolean
}

const loopbackName = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/

/**
 * Names and addresses of this machine, asked of it now and then: addresses change (DHCP). Any other
 * name would let its site have a merchant sign for this service. `localhost` is every machine's: it
 * counts for clients on this one. The host of a container comes from the container's default gateway.
 * `steadyMs` reads a steady clock.
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
      // One that is unknown may be new.
      if (!hosts.has(hostname)) refresh(limits.ownNamesAgainSeconds)
      return hosts.has(hostname)
    },
  }
}

/** The host of a URL is this machine, whichever machine that is. */
export function isLoopbackName(hostname: string): boolean {
  return loopbackName.test(hostname)
}
