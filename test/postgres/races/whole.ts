/** The whole race matrix, for `npm run races -- --postgres`. */
import { openDatabases } from '../../support/postgres-databases.ts'
import { openMatrix, type Pair, pairsOf } from './matrix.ts'

/**
 * Run all pairs, and print each that ends otherwise than in an order. `only` names an operation that both or either of
 * them is. Resolves to the number of pairs with problems.
 */
export async function runMatrix({ locked = true, only }: { locked?: boolean; only?: string }) {
  const databases = await openDatabases({ deadlock_timeout: '50ms' })
  try {
    const matrix = await openMatrix(databases, { wallet: true })
    const named = (pair: Pair) => only === undefined || pair.includes(only)
    const pairs = (await pairsOf(matrix, matrix.names)).filter(named)
    let runs = 0
    let wrong = 0
    for (const pair of pairs) {
      const { problems, runs: done } = await matrix.race(pair, locked)
      runs += done
      const [worst] = problems
      if (!worst) continue
      wrong++
      const stops = problems.map(({ after }) => after).join(', ')
      console.log(`${pair.join(' × ')}: after statement ${stops}`)
      for (const line of worst.difference) console.log(`  ${line.slice(0, 300)}`)
    }
    await matrix.close()
    const how = locked ? '' : ' without locks'
    console.log(`${pairs.length} pairs, ${runs} interleavings${how}: ${wrong} pairs with problems`)
    return wrong
  } finally {
    await databases.stop()
  }
}
