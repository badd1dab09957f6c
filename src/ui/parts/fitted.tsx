import { useLayoutEffect, useRef } from 'preact/hooks'

type Props = { children: string; class?: string }

/** Large words, which shrink until the widest of them fits its box: no list of lengths knows every font. */
export function Fitted({ children, class: extra = '' }: Props) {
  const words = useRef<HTMLSpanElement>(null)
  useLayoutEffect(() => {
    const { current } = words
    const box = current?.parentElement
    if (!current || !box) return
    fit(current)
    const watcher = new ResizeObserver(() => fit(current))
    watcher.observe(box)
    return () => watcher.disconnect()
  }, [children])
  return (
    <span ref={words} class={`fitted ${extra}`}>
      <span>{children}</span>
    </span>
  )
}

function fit(words: HTMLElement): void {
  words.style.fontSize = ''
  const { clientWidth: room, scrollWidth: wide } = words
  if (wide <= room) return
  const largest = Number.parseFloat(getComputedStyle(words).fontSize)
  // Rounded down, or the last letter would break the line.
  words.style.fontSize = `${Math.floor(((largest * room) / wide) * 10) / 10}px`
}
