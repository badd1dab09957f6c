import { Refusal, type RefusalCode } from '../base/refusal.ts'
import type { Budget, RateLimits } from './rate-limit.ts'
import { contextOf } from './request-context.ts'
import type { RouteRules } from './route.ts'

/** Finds the budget of a credential. Null if the credential does not exist. */
type FindBudget = () => Promise<Budget | 'unbounded' | null>

/** Build the guard of operations that need a credential. With `find`, they go on over the budget of the address. */
export function createGuard(rateLimits: RateLimits) {
  return async <T>(
    request: Request,
    operation: () => Promise<T>,
    find?: FindBudget,
  ): Promise<T> => {
    if (find && contextOf(request).over) await carry(rateLimits, request, find)
    try {
      return await operation()
    } catch (refused) {
      if (refused instanceof Refusal) judge(rateLimits, request, refused.code)
      throw refused
    }
  }
}

/** Count a refusal as its route declares it. Refuses `rate-limited` after too many guesses. */
export function judge(rateLimits: RateLimits, request: Request, code: RefusalCode): void {
  const context = contextOf(request)
  if (context.rules.holds.includes(code)) context.known = true
  if (context.rules.guesses.includes(code)) rateLimits.failure(context.address)
}

/**
 * Charge a request over the budget of its address to that of its credential. It is the first thing that a
 * route does. Refuses `rate-limited`.
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

/** True if a request over the budget of its address may bring a credential that carries it. */
export function mayCarry({ headers }: Request, { carrier }: RouteRules): boolean {
  // Decided by the headers, so that no body is read without one.
  return carrier === 'authorization' ? headers.has('authorization') : carrier !== null
}
