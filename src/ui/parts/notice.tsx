import type { ComponentChildren } from 'preact'
import { Icon, type IconName } from './icon.tsx'

export type Tone = 'good' | 'wait' | 'bad' | 'moved' | 'idle' | 'accent'

const icons: Record<Tone, IconName> = {
  good: 'check',
  wait: 'clock',
  bad: 'warning',
  moved: 'info',
  idle: 'info',
  accent: 'info',
}

type Props = { tone: Tone; children: ComponentChildren; icon?: IconName }

/** A highlighted sentence. Screen readers interrupt for a bad one. */
export function Notice({ tone, children, icon = icons[tone] }: Props) {
  return (
    <div class={`notice tone-${tone}`} role={tone === 'bad' ? 'alert' : 'status'}>
      <Icon name={icon} />
      <div class="grow">{children}</div>
    </div>
  )
}

type BadgeProps = { tone: Tone; children: ComponentChildren }

/** A state in a word or two: colour alone would not tell it to everybody. */
export function Badge({ tone, children }: BadgeProps) {
  return <span class={`badge tone-${tone}`}>{children}</span>
}
