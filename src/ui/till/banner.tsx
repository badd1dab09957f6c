import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { Icon, type IconName } from '../parts/icon.tsx'
import type { Tone } from '../parts/notice.tsx'

type BannerProps = { tone: Tone; icon: IconName; title: string; children: ComponentChildren }

/** An outcome in large type, to be read from across the counter. */
export function Banner({ tone, icon, title, children }: BannerProps) {
  return (
    <section class={`banner banner-${tone}`}>
      <Icon name={icon} size={88} />
      <Heading>{title}</Heading>
      {children}
    </section>
  )
}

/** A request under way. */
export function WaitBanner({ title, children }: Pick<BannerProps, 'title' | 'children'>) {
  return (
    <section class="banner banner-none" aria-busy="true">
      <span class="spinner huge-spinner" aria-hidden="true" />
      <Heading>{title}</Heading>
      {children}
    </section>
  )
}

/** A title that takes the focus: screen readers read it, and the Enter of a scanner presses no button. */
export function Heading({ children }: { children: ComponentChildren }) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [])
  return (
    <h1 ref={heading} class="outcome-title" tabIndex={-1}>
      {children}
    </h1>
  )
}
