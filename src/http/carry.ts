import type { AnyElysia } from 'elysia'
import { Refusal, type RefusalCode } from '../base/refusal.ts'
import type { RouteDetail } from './document.ts'
import { factsOf } from './facts.ts'
import type { Budget, RateLimits } from './rate-limit.ts'

/** Looks a credential up; null when nobody was given it. */
type FindBudget = () => Promise<Budget | 'unbounded' | null>

/** Refusals that tell something of the credential in the request. */
type Verdicts = {
  /** Nobody was given it: a failure of its sender. */
  guesses: readonly RefusalCode[]
  /** It holds: what others do behind the address does not change this answer. */
  holds?: readonly RefusalCode[]
}

/** Build the guard of operations that a credential opens; with `find` it lets them go on over the address's budget. */
export function createGuard(rateLimits: RateLimits, { guesses, holds = [] }: Verdicts) {
  return async <T>(
    request: Request,
    operation: () => Promise<T>,
    find?: FindBudget,
  ): Promise<T> => {
    if (find) await carry(rateLimits, request, find)
    try {
      return await operation()
    } catch (refused) {
      if (refused instanceof Refusal) {
        const facts = factsOf(request)
        if (holds.includes(refused.code)) facts.known = true
        if (guesses.includes(refused.code)) rateLimits.failure(facts.address)
      }
      throw refused
    }
  }
}

/**
 * Let a request over its address's budget go on under that of its credential, before anything else is
 * done with it. Refuses `rate-limited`.
 */
export async function carry(
  rateLimits: RateLimits,
  request: Request,
  find: FindBudget,
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
