import { Type as t } from '@sinclair/typebox'
import { Refusal } from '../base/refusal.ts'
import { Elysia } from './elysia.ts'
import type { Metrics } from './metrics.ts'
import type { RateLimits } from './rate-limit.ts'
import { replyJson } from './reply.ts'
import { contextOf } from './request-context.ts'
import { feature, route, textModel } from './route.ts'

/** Check that the service can write, and refuse with the reason if it cannot. The result is a list of warnings. */
type Readiness = () => Promise<readonly 'disk-low'[]>

const StateModel = t.Object({ status: t.Literal('ok') })

const ReadyModel = t.Object({
  status: t.Literal('ok'),
  warnings: t.Optional(
    t.Array(t.Literal('disk-low'), { description: 'Absent when there is nothing to tell' }),
  ),
})

/** State of the process for supervisors and Prometheus. */
export function healthRoutes(ready: Readiness, metrics: Metrics, rateLimits: RateLimits) {
  return new Elysia({ name: 'health', ...feature({ tag: 'Service' }) })
    .get('/livez', () => replyJson(200, { status: 'ok' }), {
      ...route({
        summary: 'The process answers',
        access: 'state',
        whileDraining: true,
        answers: { 200: StateModel },
      }),
    })
    .get(
      '/readyz',
      async () => {
        const warnings = await ready()
        return replyJson(200, { status: 'ok', ...(warnings.length > 0 && { warnings }) })
      },
      {
        ...route({
          summary: 'The service can read and write',
          access: 'state',
          answers: { 200: ReadyModel },
          refusals: ['shutting-down', 'moved', 'clock-behind', 'overloaded', 'unavailable'],
        }),
      },
    )
    .get(
      '/metrics',
      async ({ request }) => {
        const { supervised, address } = contextOf(request)
        if (!supervised) {
          if (request.headers.has('authorization')) rateLimits.failure(address)
          throw new Refusal('metrics-closed')
        }
        return new Response(await metrics.text(), {
          headers: { 'Content-Type': 'text/plain; version=0.0.4', 'Cache-Control': 'no-store' },
        })
      },
      {
        ...route({
          summary: 'Prometheus metrics, for this machine and for who has METRICS_TOKEN',
          access: 'metrics',
          answers: { 200: textModel('text/plain', 'Prometheus text, version 0.0.4') },
          refusals: ['metrics-closed'],
        }),
      },
    )
}
