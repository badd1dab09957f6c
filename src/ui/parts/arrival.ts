import { useEffect, useRef } from 'preact/hooks'

let first = true

/**
 * A ref for the heading of a view. Where the focused element is gone with the view before, the focus goes to the
 * element with `data-begin` in the form of this heading, else to the heading, and not to the top of the page. A fresh
 * page and a focused tab keep theirs.
 */
export function useArrival() {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    const adrift = document.activeElement === document.body
    const start = heading.current?.closest('form')?.querySelector<HTMLElement>('[data-begin]')
    if (adrift && !first) arrive(start ?? heading.current)
    first = false
  }, [])
  return heading
}

/** Focus an element. A heading is no tab stop. */
export function arrive(element: HTMLElement | null): void {
  if (element && element.tabIndex < 0) element.tabIndex = -1
  element?.focus({ preventScroll: true })
}
