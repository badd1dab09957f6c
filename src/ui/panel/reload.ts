import { useEffect, useRef, useState } from 'preact/hooks'
import { changes } from './changes.ts'

/**
 * Load a list when `chosen` changes, and again after every change at a till. One load runs at a time: a busy
 * shop changes faster than a long list loads. `load` returns a function that shows the result; it is not
 * called when `chosen` has changed meanwhile.
 */
export function useReload(chosen: string, load: () => Promise<() => void>) {
  const [failure, setFailure] = useState<unknown>(null)
  const latest = useRef(load)
  // The newest closure: a load must see the rows of now, not of the first render.
  latest.current = load
  const turn = useRef(0)
  const asked = useRef(false)
  const running = useRef(false)
  const change = changes.value

  const run = async (mine: number) => {
    const current = () => turn.current === mine
    while (current() && asked.current) {
      asked.current = false
      try {
        const show = await latest.current()
        if (!current()) return
        show()
        setFailure(null)
      } catch (cause) {
        if (current()) setFailure(cause)
      }
    }
    if (current()) running.current = false
  }
  useEffect(() => {
    turn.current++
    asked.current = running.current = true
    void run(turn.current)
    return () => {
      turn.current++
    }
  }, [chosen])
  // The first render loads by the effect above.
  const seen = useRef(change)
  useEffect(() => {
    if (seen.current === change) return
    seen.current = change
    asked.current = true
    // The running load starts another round when it ends.
    if (running.current) return
    running.current = true
    void run(turn.current)
  }, [change])
  return failure
}
