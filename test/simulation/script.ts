import { Random } from '../fuzz/random.ts'
import type { Script, Step } from './world.ts'

/** The steps with their weights. */
const weights: Record<string, number> = {
  define: 6,
  edit: 4,
  mint: 18,
  refresh: 22,
  claim: 14,
  void: 5,
  kill: 2,
  voidBatch: 1,
  minter: 3,
  poster: 3,
  take: 8,
  preview: 4,
  send: 3,
  transaction: 8,
  card: 1,
  tap: 4,
  pay: 6,
  relay: 3,
  again: 10,
  pass: 8,
  crash: 4,
  fault: 4,
  clock: 3,
  restart: 1,
}

const names = Object.entries(weights).flatMap(([name, weight]) => Array<string>(weight).fill(name))

/** The script of a seed. */
export function scriptOf(seed: number, length: number): Script {
  const random = new Random(seed ^ 0x5eed)
  const number = () => random.below(2 ** 16)
  const steps = Array.from({ length }, (): Step => {
    const [name, at] = [random.pick(names), random.below(2)]
    const turns = random.chance(0.4) ? null : random.below(5)
    return { do: name, at, n: [number(), number(), number()], turns }
  })
  // Nothing goes without a coupon.
  const define = (at: number): Step => ({ do: 'define', at, n: [at, 0, 0], turns: null })
  return { seed, machines: 2, steps: [define(0), define(1), ...steps] }
}
