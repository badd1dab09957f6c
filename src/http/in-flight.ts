import { limits } from '../base/limits.ts'
import { Refusal } from '../base/refusal.ts'

/** The slot of a request in flight. */
export type Working = {
  /** The request waits for its own client and counts for nobody until it resumes. */
  pause(): void
  resume(): void
  end(): void
}

/** Requests of an address: all of them in `held`, without those that wait for their client in `total`. */
type Load = { held: number; total: number; byRoute: Map<string, { total: number }> }

/**
 * Bounds the requests in flight, for the sake of memory. Up to `inFlightMax` nobody is refused. Beyond it
 * an address that has its equal share is refused, except for a few requests of each route, so that the
 * slow requests of a neighbour do not stop a shop's claims. Beyond `inFlightHardMax` all are refused.
 */
export function createInFlight() {
  const loads = new Map<string, Load>()
  let total = 0
  /** Addresses with requests that do not wait for their client. */
  let busy = 0

  const change = (load: Load, ofRoute: { total: number }, by: 1 | -1) => {
    if (load.total === 0) busy++
    total += by
    load.total += by
    ofRoute.total += by
    if (load.total === 0) busy--
  }

  /** The request keeps its counters, so that they are looked up once for its four changes. */
  class Slot implements Working {
    readonly address: string
    readonly load: Load
    readonly ofRoute: { total: number }

    constructor(address: string, load: Load, ofRoute: { total: number }) {
      this.address = address
      this.load = load
      this.ofRoute = ofRoute
    }

    pause(): void {
      change(this.load, this.ofRoute, -1)
    }

    /** It was admitted before, so there is no check. */
    resume(): void {
      change(this.load, this.ofRoute, 1)
    }

    end(): void {
      change(this.load, this.ofRoute, -1)
      if (--this.load.held === 0) loads.delete(this.address)
    }
  }

  const open = (address: string, route: string): Working => {
    let load = loads.get(address)
    if (!load) {
      load = { held: 0, total: 0, byRoute: new Map() }
      loads.set(address, load)
    }
    let ofRoute = load.byRoute.get(route)
    if (!ofRoute) {
      ofRoute = { total: 0 }
      load.byRoute.set(route, ofRoute)
    }
    load.held++
    change(load, ofRoute, 1)
    return new Slot(address, load, ofRoute)
  }
  const hasRoom = (address: string, route: string) => {
    if (total < limits.inFlightMax) return true
    if (total >= limits.inFlightHardMax) return false
    const load = loads.get(address)
    if (!load || load.total === 0) return true
    const share = limits.inFlightMax / busy
    return load.total < share || (load.byRoute.get(route)?.total ?? 0) < limits.inFlightOfRouteMin
  }

  return {
    /** One more request of an address for a route. Refuses `overloaded`. */
    begin(address: string, route: string): Working {
      if (!hasRoom(address, route)) throw new Refusal('overloaded', { retryAfter: 1 })
      return open(address, route)
    },
  }
}
