/** The whole race matrix, for `npm run races -- --postgres`. */
import { Random } from '../../fuzz/random.ts'
import { openDatabases } from '../../support/postgres-databases.ts'
import { openMatrix, type Pair, pairsOf } from './matrix.ts'

/** One of so many parts, the first of which is 1. All parts of one seed together are the whole. */
export type Part = { part: number; parts: number; seed: number }

type Asked = {
  locked?: boolean
  /** An operation that both or either of a pair is. */
  only?: string
  part: Part
}

/** The pairs of a part, in a random order: each part is a sample of all. */
export function dealt<T>(pairs: readonly T[], { part, parts, seed }: Part): T[] {
  const random = new Random(seed)
  const left = [...pairs]
  const shuffled = pairs.flatMap(() => left.splice(random.below(left.length), 1))
  return shuffled.filter((_, at) => at % parts === part - 1)
}

/** Run the pairs of a part, and print each that ends otherwise than in an order. The number of pairs with problems. */
export async function runMatrix({ locked = true, only, part }: Asked): Promise<number> {
  const databases = await openDatabases({ deadlock_timeout: '50ms' })
  try {
    const matrix = await openMatrix(databases, { wallet: true })
    const named = (pair: Pair) => only === undefined || pair.includes(only)
    const all = (await pairsOf(matrix, matrix.names)).filter(named)
    const pairs = dealt(all, part)
    let runs = 0
    let wrong = 0
    for (const [at, pair] of pairs.entries()) {
      const { problems, runs: done } = await matrix.race(pair, locked)
      runs += done
      process.stderr.write(`\r${at + 1} of ${pairs.length} pairs`)
      const [worst] = problems
      if (!worst) continue
      wrong++
      const stops = problems.map(({ after }) => after).join(', ')
      console.log(`${pair.join(' × ')}: after statement ${stops}`)
      for (const line of worst.difference) console.log(`  ${line.slice(0, 300)}`)
    }
    await matrix.close()
    const how = locked ? '' : ' without locks'
    const of = `part ${part.part}/${part.parts} of ${all.length} pairs`
    console.log(
      `\n${of}: ${pairs.length} pairs, ${runs} interleavings${how}: ${wrong} pairs with problems`,
    )
    return wrong
  } finally {
    await databases.stop()
  }
}
