import type { AnyElysia } from 'elysia'
import type { RouteDetail } from './document.ts'
import { factsOf } from './facts.ts'
import type { Budget, RateLimits } from './rate-limit.ts'

/**
 * Let a request over its address's budget go on under that of its credential, before anything else is
 * done with it: `find` looks the credential up, null when nobody was given it. Refuses `rate-limited`.
 */
export async function carry(
  rateLimits: RateLimits,
  request: Request,
  find: () => Promise<Budget | 'unbounded' | null>,
): Promise<void> {
  const facts = factsOf(request)
  if (!facts.over) return
  const budget = await find()
  if (!budget) {
    rateLimits.failure(facts.address)
    throw facts.over
  }
  if (budget !== 'unbounded') rateLimits.carried(budget)
  facts.known = true
}

/** Which requests over their address's budget may bring a credential that carries them. */
export function createCarrierTable(routes: AnyElysia['routes']) {
  const carriers = new Map(
    routes.flatMap(({ method, path, hooks }) => {
      const carrier = (hooks as { detail?: RouteDetail }).detail?.['x-carrier']
      return carrier ? [[`${method} ${path.replace(/\/$/, '')}`, carrier] as const] : []
    }),
  )
  return {
    mayCarry({ method, headers }: Request, pattern: string): boolean {
      const carrier = carriers.get(`${method === 'HEAD' ? 'GET' : method} ${pattern}`)
      // Told by a look at the headers: no body is read for who did not even try.
      return carrier === 'authorization' ? headers.has('authorization') : carrier !== undefined
    },
  }
}
