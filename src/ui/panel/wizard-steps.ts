import { useEffect, useRef } from 'preact/hooks'
import { asObject } from '../../base/json.ts'

/** The state of an entry of the history. `depth`: the entries of the same wizard before it. */
type Entry = { wizard: string; step: number; depth: number }

type Moves = {
  forward: (step: number) => void
  /** To the step before, as Back of the browser does. */
  back: () => void
  /** Note a step that was reached in another way. */
  restart: (step: number) => void
  /** Leave for a view. Back then leads to the page before the wizard, since its steps are over. */
  leave: (href: string) => void
}

/**
 * The steps of a wizard as entries of the history, so that Back of the browser goes one step back.
 * `place`: the name of the wizard. `onMove`: the step that the person moved to.
 */
export function useSteps(place: string, at: number, onMove: (step: number) => void): Moves {
  const leaving = useRef(false)
  const move = useRef(onMove)
  move.current = onMove
  const entryOf = (step: number, depth: number): Entry => ({ wizard: place, step, depth })
  const depthHere = () => parseEntry(history.state, place)?.depth ?? 0
  const restart = (step: number, depth = 0) => history.replaceState(entryOf(step, depth), '')
  useEffect(() => {
    // A draft that was left at a later step resumes there.
    restart(at, depthHere())
    const moved = (event: PopStateEvent) => {
      const entry = parseEntry(event.state, place)
      if (entry && !leaving.current) move.current(entry.step)
    }
    window.addEventListener('popstate', moved)
    return () => window.removeEventListener('popstate', moved)
  }, [])
  return {
    forward(step) {
      history.pushState(entryOf(step, depthHere() + 1), '')
      onMove(step)
    },
    back() {
      if (depthHere() > 0) return history.back()
      restart(at - 1)
      onMove(at - 1)
    },
    restart,
    leave(href) {
      leaving.current = true
      const depth = depthHere()
      if (depth === 0) return location.replace(href)
      window.addEventListener('popstate', () => location.replace(href), { once: true })
      history.go(-depth)
    },
  }
}

/** The entry of this wizard; null for one of another page. */
function parseEntry(state: unknown, place: string): Entry | null {
  const { wizard, step, depth } = asObject(state) ?? {}
  if (wizard !== place || typeof step !== 'number' || typeof depth !== 'number') return null
  return { wizard, step, depth }
}
