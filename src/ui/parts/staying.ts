import { useEffect } from 'preact/hooks'

/**
 * While it holds, going back asks first, and so does the browser before the page is closed or loaded
 * anew: what is on the screen cannot be shown again.
 */
export function useStaying(holds: boolean, ask: () => void): void {
  useEffect(() => {
    if (!holds) return
    const warn = (event: BeforeUnloadEvent) => event.preventDefault()
    const here = location.href
    // One more entry of the history for this very page: going back leads no further.
    const stay = () => history.pushState(null, '', here)
    const goingBack = () => {
      // From elsewhere we come back, and leave again by an entry of our own.
      if (location.href !== here) stay()
      stay()
      ask()
    }
    stay()
    window.addEventListener('beforeunload', warn)
    window.addEventListener('popstate', goingBack)
    return () => {
      window.removeEventListener('beforeunload', warn)
      window.removeEventListener('popstate', goingBack)
      history.back()
    }
  }, [holds])
}
