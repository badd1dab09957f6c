/**
 * Answers and rows in a form that two runs of the same operations share: keys, nonces, signatures and row ids that a
 * run made up are named by the places where they stand.
 */
import { handleOf, nonceShaped } from '../../../src/coupons/nonce.ts'

/** A text with `#` in place of each value that a run made up, and those values. */
type Line = { text: string; made: string[] }

/** Row ids that the world did not have (see `world.ts`). Times are later, other numbers are smaller. */
const madeIds = { from: 10_000_000, to: 1_000_000_000 }
// A long text of base 64 stands alone or between quotes: paths have its alphabet, too.
const long = '(?<=^|")[A-Za-z0-9+/]{60,}={0,2}(?=$|["\\\\])'
const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'
const words = new RegExp(`${uuid}|[0-9a-f]{32,}|${long}|[A-Za-z0-9_-]{22,}`, 'g')
const plainWord = /^[a-z-]+$/

/** The lines of an outcome. `known` are the texts that stand for themselves. */
export function linesOf(
  parts: readonly (readonly [kind: string, value: unknown])[],
  known: ReadonlySet<string>,
): string[] {
  return named(parts.map(([kind, value]) => lineOf(kind, value, known)))
}

function lineOf(kind: string, value: unknown, known: ReadonlySet<string>): Line {
  const made: string[] = []
  const replace = (one: string) => {
    if (known.has(one) || plainWord.test(one)) return one
    made.push(nonceShaped(one) ? handleOf(one).toHex() : one)
    return '#'
  }
  const text = JSON.stringify(value, (_, one: unknown) => {
    if (typeof one === 'bigint') return String(one)
    if (typeof one === 'number' && one >= madeIds.from && one < madeIds.to) {
      return replace(`id ${one}`)
    }
    if (one instanceof Uint8Array) return replace(one.toHex())
    if (typeof one !== 'string') return one
    if (one.startsWith('\\x')) return one === '\\x' ? one : replace(one.slice(2))
    return one.replaceAll('#', '♯').replace(words, replace)
  })
  return { text: `${kind} ${text}`, made }
}

/** Give each made-up value a name that follows from where it stands, and sort the lines. */
function named(lines: readonly Line[]): string[] {
  let names = new Map<string, string>()
  for (let round = 0; round < 4; round++) {
    const places = new Map<string, string[]>()
    for (const line of lines) {
      const whole = shown(line, names)
      for (const [at, one] of line.made.entries()) {
        const seen = places.get(one) ?? []
        seen.push(`${whole} ${at}`)
        places.set(one, seen)
      }
    }
    names = new Map(
      [...places].map(([one, seen]) => [one, Bun.hash(seen.sort().join('\n')).toString(36)]),
    )
  }
  return lines.map((line) => shown(line, names)).sort()
}

function shown({ text, made }: Line, names: ReadonlyMap<string, string>): string {
  let at = 0
  return text.replaceAll('#', () => `#${names.get(made[at++] ?? '') ?? ''}`)
}
