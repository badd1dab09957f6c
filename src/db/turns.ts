import type { Database } from './database.ts'

/**
 * `transact` with operations of the same roots one after the other on this node. On an engine whose operations
 * overlap they would wait for each other's locks with a connection each, and get them in any order.
 */
export function inTurns<Tx>(database: Database<Tx>): Database<Tx>['transact'] {
  const inTurn = createTurns()
  return (plan, operation) =>
    inTurn(JSON.stringify(plan.roots), () => database.transact(plan, operation))
}

/** Work of one key after the other, in the order of asking; that of other keys goes on beside it. */
export function createTurns(): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  const last = new Map<string, Promise<void>>()
  return async (key, work) => {
    const before = last.get(key)
    const { promise: ended, resolve: end } = Promise.withResolvers<void>()
    last.set(key, ended)
    await before
    try {
      return await work()
    } finally {
      end()
      if (last.get(key) === ended) last.delete(key)
    }
  }
}
