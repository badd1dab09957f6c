import { expect, test } from 'bun:test'
import Counter from 'prom-client/lib/counter'
import Histogram from 'prom-client/lib/histogram'
import Registry from 'prom-client/lib/registry'
import { RequestSeries } from '../../src/http/request-series.ts'

const bounds = [0.0005, 0.01, 1]

test('the counts of requests are written as the client library writes its own', async () => {
  const [ours, theirs] = [new Registry(), new Registry()]
  const series = new RequestSeries(ours, bounds)
  const registers = [theirs]
  const requests = new Counter({
    name: 'cuponera_http_requests_total',
    help: 'Requests by route, method and status',
    labelNames: ['route', 'method', 'status'],
    registers,
  })
  const latency = new Histogram({
    name: 'cuponera_http_request_seconds',
    help: 'Time to answer by route',
    labelNames: ['route'],
    buckets: bounds,
    registers,
  })
  expect(await ours.metrics()).toBe(await theirs.metrics())

  const answered: [string, string, number, number][] = [
    ['/a', 'GET', 200, 0.25],
    ['/a', 'GET', 200, 0.5],
    ['/a', 'POST', 409, 2],
    ['/b/:id', 'GET', 200, 0.0005],
    ['/b/:id', 'other', 405, 0.01],
  ]
  for (const [route, method, status, seconds] of answered) {
    series.count(route, method, status, seconds)
    requests.labels(route, method, String(status)).inc()
    latency.labels(route).observe(seconds)
  }
  expect(await ours.metrics()).toBe(await theirs.metrics())
})
