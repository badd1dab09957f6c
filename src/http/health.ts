import { Elysia } from 'elysia'
import type { Metrics } from './metrics.ts'
import { replyJson } from './reply.ts'

/** Whether the service can keep its word; refuses with the reason when it cannot. */
export type Readiness = () => Promise<void>

/** State of the process for supervisors and Prometheus. */
export function healthRoutes(ready: Readiness, metrics: Metrics) {
  return new Elysia({ name: 'health' })
    .get('/livez', () => replyJson(200, { status: 'ok' }), {
      detail: { summary: 'The process answers' },
    })
    .get(
      '/readyz',
      async () => {
        await ready()
        return replyJson(200, { status: 'ok' })
      },
      { detail: { summary: 'The service can read and write' } },
    )
    .get(
      '/metrics',
      async () =>
        new Response(await metrics.text(), {
          headers: { 'Content-Type': 'text/plain; version=0.0.4', 'Cache-Control': 'no-store' },
        }),
      { detail: { summary: 'Prometheus metrics' } },
    )
}
