import { Refusal, type RefusalCode } from '../base/refusal.ts'
import type { RouteRules } from './document.ts'
import type { Budget, RateLimits } from './rate-limit.ts'
import { contextOf } from './request-context.ts'

/** Looks a credential up; null when nobody was given it. */
type FindBudget = () => Promise<Budget | 'unbounded' | null>

/** Build the guard of operations that a credential opens; with `find` it lets them go on over the address's budget. */
export function createGuard(rateLimits: RateLimits) {
  return async <T>(
    request: Request,
    operation: () => Promise<T>,
    find?: FindBudget,
  ): Promise<T> => {
    if (find) await carry(rateLimits, request, find)
    try {
      return await operation()
    } catch (refused) {
      if (refused instanceof Refusal) judge(rateLimits, request, refused.code)
      throw refused
    }
  }
}

/** Count a refusal as its route declares it. Refuses `rate-limited` who guesses too often. */
export function judge(rateLimits: RateLimits, request: Request, code: RefusalCode): void {
  const context = contextOf(request)
  if (context.rules.holds.includes(code)) context.known = true
  if (context.rules.guesses.includes(code)) rateLimits.failure(context.address)
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
  const context = contextOf(request)
  if (!context.over) return
  const budget = await find()
  if (!budget) {
    rateLimits.failure(context.address)
    throw context.over
  }
  if (budget !== 'unbounded') rateLimits.carried(budget)
  context.known = true
}

/** Whether a request over its address's budget may bring a credential that carries it. */
export function mayCarry({ headers }: Request, { carrier }: RouteRules): boolean {
  // A look at the headers: no body is read of a sender that did not even try.
  return carrier === 'authorization' ? headers.has('authorization') : carrier !== null
}
