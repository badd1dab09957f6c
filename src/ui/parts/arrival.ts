import { useEffect, useRef } from 'preact/hooks'

let first = true

/**
 * A ref for the heading of a view. Where the focused element is gone with the view before, the focus goes to
 * this heading and not to the top of the page. A fresh page and a focused tab keep theirs.
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

/** Focus a heading, which is no tab stop. */
export function arrive(heading: HTMLElement | null): void {
  if (heading && !heading.hasAttribute('tabindex')) heading.tabIndex = -1
  heading?.focus({ preventScroll: true })
}
