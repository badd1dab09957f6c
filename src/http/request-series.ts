import type Registry from 'prom-client/lib/registry'

type Value = { metricName: string; labels: Record<string, string | number>; value: number }

/** The part of a metric that the registry asks for, and only at a scrape. */
type Shown = {
  name: string
  help: string
  type: string
  get(): Promise<Shown & { values: Value[] }>
}

/** The counts of a route: by method and status, and by the time to answer. */
type Tally = {
  statuses: Map<string, Map<number, { count: number }>>
  /** Answers within each bound, and slower ones in the last place. */
  buckets: number[]
  sum: number
  count: number
}

/**
 * Requests and their time to answer, by route. Counted in plain numbers, because the labels of the client library cost
 * more than the rest of the bookkeeping; they are written at a scrape. Our own routes bound the series.
 */
export class RequestSeries {
  readonly #bounds: readonly number[]
  readonly #routes = new Map<string, Tally>()

  /** `bounds` are seconds, in rising order. */
  constructor(register: Registry, bounds: readonly number[]) {
    this.#bounds = bounds
    add(register, {
      name: 'cuponera_http_requests_total',
      help: 'Requests by route, method and status',
      type: 'counter',
      values: (name) => this.#counts(name),
    })
    add(register, {
      name: 'cuponera_http_request_seconds',
      help: 'Time to answer by route',
      type: 'histogram',
      values: (name) => this.#times(name),
    })
  }

  /** Count an answer. */
  count(route: string, method: string, status: number, seconds: number): void {
    const tally = this.#routes.get(route) ?? this.#begin(route)
    const counted = tally.statuses.get(method)?.get(status) ?? beginStatus(tally, method, status)
    counted.count++
    tally.count++
    tally.sum += seconds
    let at = 0
    while (at < this.#bounds.length && seconds > (this.#bounds[at] ?? 0)) at++
    tally.buckets[at] = (tally.buckets[at] ?? 0) + 1
  }

  #begin(route: string): Tally {
    const buckets = [...this.#bounds, Number.POSITIVE_INFINITY].map(() => 0)
    const tally = { statuses: new Map(), buckets, sum: 0, count: 0 }
    this.#routes.set(route, tally)
    return tally
  }

  #counts(metricName: string): Value[] {
    return [...this.#routes].flatMap(([route, { statuses }]) =>
      [...statuses].flatMap(([method, counts]) =>
        [...counts].map(([status, { count }]) => {
          return { metricName, labels: { route, method, status: String(status) }, value: count }
        }),
      ),
    )
  }

  #times(name: string): Value[] {
    return [...this.#routes].flatMap(([route, { buckets, sum, count }]) => {
      let within = 0
      const bucket = (le: number | '+Inf', value: number) => {
        return { metricName: `${name}_bucket`, labels: { le, route }, value }
      }
      return [
        ...this.#bounds.map((le, at) => {
          within += buckets[at] ?? 0
          return bucket(le, within)
        }),
        bucket('+Inf', count),
        { metricName: `${name}_sum`, labels: { route }, value: sum },
        { metricName: `${name}_count`, labels: { route }, value: count },
      ]
    })
  }
}

function beginStatus({ statuses }: Tally, method: string, status: number): { count: number } {
  const counts = statuses.get(method) ?? new Map<number, { count: number }>()
  statuses.set(method, counts)
  const counted = { count: 0 }
  counts.set(status, counted)
  return counted
}

function add(
  register: Registry,
  { values, ...about }: Omit<Shown, 'get'> & { values: (name: string) => Value[] },
): void {
  const metric: Shown = {
    ...about,
    get: async () => ({ ...metric, values: values(about.name) }),
  }
  // Declared for the classes of the library; it calls no more than this.
  register.registerMetric(metric as never)
}
