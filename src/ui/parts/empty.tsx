import type { ComponentChildren } from 'preact'
import { Icon, type IconName } from './icon.tsx'

type Props = { icon: IconName; title: string; children?: ComponentChildren }

/** A view without content yet, with a hint how to get some. */
export function Empty({ icon, title, children }: Props) {
  return (
    <div class="empty">
      <Icon name={icon} size={48} />
      <h2>{title}</h2>
      {children}
    </div>
  )
}
