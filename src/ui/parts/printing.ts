import type { Signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'

/** Print the job once its paper is `ready`, and forget it after that. */
export function usePrinting<Job>(job: Signal<Job | null>, ready: boolean): void {
  const current = job.value
  useEffect(() => {
    if (!current || !ready) return
    const done = () => {
      job.value = null
    }
    window.addEventListener('afterprint', done, { once: true })
    // After the next paint: the print dialog takes the page as it is drawn.
    requestAnimationFrame(() => window.print())
    return () => window.removeEventListener('afterprint', done)
  }, [current, ready])
}
