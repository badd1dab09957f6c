// Imported by file, because the index of the package loads the cluster module, a third of the start time.
import Counter from 'prom-client/lib/counter'
import Gauge from 'prom-client/lib/gauge'
import Histogram from 'prom-client/lib/histogram'
import Registry from 'prom-client/lib/registry'
import { Refusal } from '../base/refusal.ts'
import type { LoopMonitor } from './loop.ts'
import { RequestSeries } from './request-series.ts'

/** Series for `/metrics`. No label comes from text that somebody sent. */
export type Metrics = ReturnType<typeof createMetrics>

/** One value of a series that is read at each scrape. */
export type Sample = { labels?: Record<string, string>; value: number }

type SeriesText = { name: string; help: string; labels?: readonly string[] }

const known = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
const seconds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5]

export function createMetrics() {
  const register = new Registry()
  const registers = [register]
  const requests = new RequestSeries(register, seconds)
  const commits = new Counter({
    name: 'cuponera_commits_total',
    help: 'Durable commits',
    registers,
  })
  const commitFailures = new Counter({
    name: 'cuponera_commit_failures_total',
    help: 'Commits that failed; their operations were answered 503',
    registers,
  })
  const batch = new Histogram({
    name: 'cuponera_commit_operations',
    help: 'Operations that shared a commit',
    buckets: [1, 2, 4, 8, 16, 32, 64, 128],
    registers,
  })
  const commitTime = new Histogram({
    name: 'cuponera_commit_seconds',
    help: 'Time of a commit with its operations',
    buckets: seconds,
    registers,
  })
  const checks = new Gauge({
    name: 'cuponera_check_problems',
    help: 'Problems the last full check found; -1 when none ran',
    registers,
  })
  checks.set(-1)

  return {
    request(route: string, method: string, status: number, startedMs: number): void {
      const label = known.has(method) ? method : 'other'
      requests.count(route, label, status, (performance.now() - startedMs) / 1000)
    },
    committed(operations: number, took: number): void {
      commits.inc()
      batch.observe(operations)
      commitTime.observe(took)
    },
    commitFailed(): void {
      commitFailures.inc()
    },
    checked(problems: number): void {
      checks.set(problems)
    },
    /** Show the longest stall of the main thread. */
    watch({ longestSeconds }: Pick<LoopMonitor, 'longestSeconds'>): void {
      new Gauge({
        name: 'cuponera_loop_stall_max_seconds',
        help: 'Longest time the main thread answered nobody, of the last minute or up to two',
        registers,
        collect() {
          this.set(longestSeconds())
        },
      })
    },
    /**
     * A series that is read at each scrape. With `total` it is a counter. Without the database it is empty, or not a
     * number, so that the others are told.
     */
    show(
      { name, help, labels = [] }: SeriesText,
      read: () => readonly Sample[] | Promise<readonly Sample[]>,
      total = false,
    ): void {
      const samples = async () => {
        try {
          return await read()
        } catch (cause) {
          if (cause instanceof Refusal) return labels.length > 0 ? [] : [{ value: Number.NaN }]
          throw cause
        }
      }
      const series = { name, help, labelNames: labels, registers }
      if (total) {
        new Counter({
          ...series,
          async collect() {
            this.reset()
            for (const { labels = {}, value } of await samples()) this.inc(labels, value)
          },
        })
      } else {
        new Gauge({
          ...series,
          async collect() {
            this.reset()
            for (const { labels = {}, value } of await samples()) this.set(labels, value)
          },
        })
      }
    },
    /** Prometheus text. */
    text: () => register.metrics(),
  }
}
