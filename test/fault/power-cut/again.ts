import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Random } from '../../fuzz/random.ts'
import { Disk } from './disk.ts'
import type { Known } from './moments.ts'
import { isChange, Recording } from './trace.ts'
import { startTraced } from './traced.ts'

export type AgainOptions = {
  /** The program, and the settings of its service. */
  command: readonly string[]
  environment: Record<string, string>
  /** Number of states. */
  states: number
  random: Random
  /** Directory for them. */
  directory: string
}

/**
 * Start the program on a state that a power cut left, end it, and cut the power at some moment of that: an open writes,
 * too. Each state is written when it is asked for.
 */
export async function cutAgain(state: string, known: Known, options: AgainOptions) {
  const { command, environment, states, random, directory } = options
  const recording = new Recording(state)
  recording.adopt()
  const first = recording.events.length
  const trace = join(directory, 'trace-again')
  const stopped = random.chance(0.5)
  try {
    const dataDir = join(state, known.name)
    await using server = await startTraced(trace, { dataDir, env: environment, command })
    await server.end(stopped ? 'SIGTERM' : 'SIGKILL')
    recording.add('again', trace)
  } finally {
    rmSync(trace, { force: true })
  }
  const after = { ...known, mayBeClean: known.mayBeClean || stopped }
  return statesOf(recording, first, { states, random, path: join(directory, 'state') }, after)
}

function* statesOf(
  recording: Recording,
  first: number,
  { states, random, path }: { states: number; random: Random; path: string },
  known: Known,
) {
  const { events } = recording
  const disk = new Disk(recording)
  const syncs = events.flatMap(({ kind }, at) => (kind === 'sync' && at >= first ? [at] : []))
  const moment = () =>
    syncs.length > 0 && random.chance(0.5)
      ? random.pick(syncs) + random.below(2)
      : first + random.below(events.length + 1 - first)
  let applied = 0
  for (const at of Array.from({ length: states }, moment).sort((one, other) => one - other)) {
    for (; applied < at; applied++) {
      const event = events[applied]
      if (event && isChange(event)) disk.apply(event)
    }
    disk.write(path, random)
    yield { path, known }
  }
}
