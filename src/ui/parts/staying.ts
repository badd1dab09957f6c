import { useLayoutEffect, useRef } from 'preact/hooks'

/**
 * While `holds`, going back asks first, and so does the browser before the page is closed or reloaded. For
 * codes that cannot be shown again.
 */
export function useStaying(holds: boolean, ask: () => void): void {
  // The newest closure: the page may have changed since it began to hold.
  const latest = useRef(ask)
  latest.current = ask
  // Not a passive effect: Back could come before it runs.
  useLayoutEffect(() => {
    if (!holds) return
    const warn = (event: BeforeUnloadEvent) => event.preventDefault()
    const here = location.href
    // A second entry of the history for this page: going back stays on it.
    const stay = () => history.pushState(null, '', here)
    const goingBack = () => {
      // A click on a link changed the address: return to ours first.
      if (location.href !== here) stay()
      stay()
      latest.current()
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
