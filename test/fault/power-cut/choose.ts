import type { Random } from '../../fuzz/random.ts'
import type { Harshness } from './disk.ts'
import type { Recorded } from './trace.ts'

/** A moment for a cut. `at`: the number of the recorded events before it. */
export type Cut = {
  at: number
  harshness: Harshness
  /** A file has just got its name. */
  named: boolean
}

const namesAlone = 'names without content'
const syncedAlone = 'only what was synced'

/**
 * Cuts in the order of a recording: right behind the new name of each file, and for the rest in its first start, right behind
 * answers, around syncs and names, anywhere.
 */
export function chooseCuts(events: readonly Recorded[], count: number, random: Random): Cut[] {
  const at = (...kinds: Recorded['kind'][]) =>
    events.flatMap(({ kind }, index) => (kinds.includes(kind) ? [index] : []))
  const [answers, syncs, entries] = [at('left', 'shown'), at('sync', 'loss'), at('entry', 'rename')]
  // A file that is renamed was made under another name, so that it is whole when it gets this one.
  const named = at('rename').map((index) => index + 1)
  const moment = () => {
    const roll = random.next()
    if (roll < 0.1) return random.below((answers[0] ?? 0) + 1)
    if (roll < 0.4) return random.pick(answers) + 1
    if (roll < 0.6) return random.pick(syncs) + random.below(2)
    if (roll < 0.75) return Math.min(random.pick(entries) + random.below(4), events.length)
    return random.below(events.length + 1)
  }
  const sure = named.slice(0, count).map((at): Cut => ({ at, harshness: namesAlone, named: true }))
  const rest = Array.from({ length: count - sure.length }, (): Cut => {
    const roll = random.next()
    // The worst for an answer before its sync.
    if (roll < 0.1) return { at: random.pick(answers) + 1, harshness: syncedAlone, named: false }
    return { at: moment(), harshness: roll < 0.2 ? namesAlone : 'any', named: false }
  })
  return [...sure, ...rest].sort((one, other) => one.at - other.at)
}

/** Cuts right behind answers of clients, and of those who saw a step of them. Nothing is left of what was not synced: an answer before its sync is lost for sure. */
export function chooseHarshCuts(
  events: readonly Recorded[],
  steps: ReadonlySet<string>,
  { count, random }: { count: number; random: Random },
): Cut[] {
  const answers = events.flatMap((event, index) =>
    event.kind === 'left' && steps.has(event.step) ? [index + 1] : [],
  )
  return Array.from({ length: count }, () => random.pick(answers))
    .sort((one, other) => one - other)
    .map((at) => ({ at, harshness: syncedAlone, named: false }))
}
