import { useEffect, useRef, useState } from 'preact/hooks'
import { changes } from './live-stream.ts'

/**
 * Load what shows, and again with every change at a till: one at a time, since a busy shop changes faster
 * than a long list loads. What comes back after something else was chosen is dropped. `load` answers with
 * what shows it.
 */
export function useReload(chosen: string, load: () => Promise<() => void>) {
  const [failure, setFailure] = useState<unknown>(null)
  const latest = useRef(load)
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
  const seen = useRef(change)
  useEffect(() => {
    if (seen.current === change) return
    seen.current = change
    asked.current = true
    if (running.current) return
    running.current = true
    void run(turn.current)
  }, [change])
  return failure
}
