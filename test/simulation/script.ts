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
  preview: 6,
  again: 10,
  pass: 4,
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
  return { seed, machines: 1, steps }
}
