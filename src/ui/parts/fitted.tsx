import { useLayoutEffect, useRef } from 'preact/hooks'

type Props = { children: string; class?: string }

/** Large words, which shrink until the widest of them fits its box: no list of lengths knows every font. */
export function Fitted({ children, class: extra = '' }: Props) {
  const words = useRef<HTMLSpanElement>(null)
  useLayoutEffect(() => {
    const { current } = words
    const box = current?.parentElement
    if (!current || !box) return
    // It calls when it begins, too: after the layout of the next frame and before its paint, so nothing is laid out twice.
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

/** Small letters may be as wide as larger ones, where the screen rounds their widths: so it takes some tries. */
const triesMax = 12

function fit(words: HTMLElement): void {
  words.style.fontSize = ''
  let size: number | null = null
  for (let tries = 0; tries < triesMax; tries++) {
    const { clientWidth: room, scrollWidth: wide } = words
    if (wide <= room) return
    size ??= Number.parseFloat(getComputedStyle(words).fontSize)
    size = Math.min((size * room) / wide, size - 0.25)
    words.style.fontSize = `${size}px`
  }
}
