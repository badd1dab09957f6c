import { useEffect, useRef } from 'preact/hooks'

let first = true

/**
 * For the heading of a view. Where the focus was on something that is gone, it goes on from here, and not
 * from the top of the page; whoever just came, or chose a tab, keeps theirs.
 */
export function useArrival() {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    const adrift = document.activeElement === document.body
    if (adrift && !first) arrive(heading.current)
    first = false
  }, [])
  return heading
}

/** Go on from a heading, which no Tab stops at. */
export function arrive(heading: HTMLElement | null): void {
  if (heading && !heading.hasAttribute('tabindex')) heading.tabIndex = -1
  heading?.focus({ preventScroll: true })
}
