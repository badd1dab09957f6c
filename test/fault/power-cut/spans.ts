import type { Lane } from './client.ts'
import type { Life } from './life.ts'

/** Numbers of recorded events: a state may be of any moment from the one to the other. */
export type Span = { from: number; to: number }

type Times = { heard: number; told: number }

const known = new WeakMap<Life, Map<Lane, Times[]>>()

/** The moments at which the state of a lane may have held so many of its steps. */
export function spanOf(life: Life, lane: Lane, steps: number): Span {
  const there = known.get(life)
  const times = there ?? timesOf(life)
  if (!there) known.set(life, times)
  const ofLane = times.get(lane) ?? []
  return { from: ofLane[steps - 1]?.heard ?? 0, to: ofLane[steps]?.told ?? Number.MAX_SAFE_INTEGER }
}

/** When each step was heard, and when somebody knew of it. */
function timesOf({ recording, lanes }: Life): Map<Lane, Times[]> {
  const heard = new Map<string, number>()
  const told = new Map<string, number>()
  for (const [at, event] of recording.events.entries()) {
    if (event.kind === 'heard') heard.set(event.step, at)
    else if ((event.kind === 'left' || event.kind === 'shown') && !told.has(event.step))
      told.set(event.step, at)
  }
  const all = [...lanes.before, ...lanes.after].map((lane) => {
    let last = 0
    const times = lane.steps.map(({ id, refused }) => {
      // A first attempt, or an event of the relay, was sent after the answer before it.
      const begun = refused > 0 ? last : (heard.get(id) ?? last)
      last = told.get(id) ?? begun
      return { heard: begun, told: last }
    })
    return [lane, times] as const
  })
  return new Map(all)
}

/** True if there is a moment at which each of them had one of its spans. */
export function haveOneMoment(spans: readonly (readonly Span[])[]): boolean {
  const moments = [0, ...spans.flat().map(({ from }) => from)]
  return moments.some((at) =>
    spans.every((some) => some.some(({ from, to }) => from <= at && at <= to)),
  )
}
