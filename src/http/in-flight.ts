import { limits } from '../base/limits.ts'
import { Refusal } from '../base/refusal.ts'

/** The slot of a request in flight. */
export type Working = {
  /** The request waits for its own client and counts for nobody until it resumes. */
  pause(): void
  resume(): void
  end(): void
}

type Load = { total: number; byRoute: Map<string, number> }

/**
 * Bounds the requests in flight, for the sake of memory. Up to `inFlightMax` nobody is refused. Beyond it
 * an address that has its equal share is refused, except for a few requests of each route, so that the
 * slow requests of a neighbour do not stop a shop's claims. Beyond `inFlightHardMax` all are refused.
 */
export function createInFlight() {
  const loads = new Map<string, Load>()
  let total = 0

  const change = (address: string, route: string, by: 1 | -1) => {
    const load = loads.get(address) ?? { total: 0, byRoute: new Map<string, number>() }
    const ofRoute = (load.byRoute.get(route) ?? 0) + by
    total += by
    load.total += by
    if (ofRoute > 0) load.byRoute.set(route, ofRoute)
    else load.byRoute.delete(route)
    if (load.total > 0) loads.set(address, load)
    else loads.delete(address)
  }
  const hasRoom = (address: string, route: string) => {
    if (total < limits.inFlightMax) return true
    if (total >= limits.inFlightHardMax) return false
    const load = loads.get(address)
    if (!load) return true
    const share = limits.inFlightMax / loads.size
    return load.total < share || (load.byRoute.get(route) ?? 0) < limits.inFlightOfRouteMin
  }

  return {
    /** One more request of an address for a route. Refuses `overloaded`. */
    begin(address: string, route: string): Working {
      if (!hasRoom(address, route)) throw new Refusal('overloaded', { retryAfter: 1 })
      change(address, route, 1)
      return {
        pause: () => change(address, route, -1),
        // It was admitted before, so there is no check.
        resume: () => change(address, route, 1),
        end: () => change(address, route, -1),
      }
    },
  }
}
