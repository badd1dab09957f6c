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
    if (adrift && !first) heading.current?.focus({ preventScroll: true })
    first = false
  }, [])
  return heading
}
