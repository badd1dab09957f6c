import type { ButtonHTMLAttributes, ComponentChildren } from 'preact'
import { Icon, type IconName } from './icon.tsx'

type Look = {
  kind?: 'primary' | 'plain' | 'quiet' | 'danger'
  icon?: IconName
  wide?: boolean
  big?: boolean
}

type ButtonProps = Look &
  Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'icon' | 'size'> & {
    /** At work: it cannot be pressed again, and says so. It keeps the focus, which a disabled one loses. */
    busy?: boolean
    children: ComponentChildren
  }

/** A button that says what it does. Submits only where `type="submit"` says so. */
export function Button({
  kind,
  icon,
  wide,
  big,
  busy = false,
  children,
  type = 'button',
  class: extra,
  onClick,
  ...rest
}: ButtonProps) {
  return (
    <button
      {...rest}
      type={type}
      class={`${lookOf({ ...(kind && { kind }), wide: wide === true, big: big === true })} ${String(extra ?? '')}`}
      aria-busy={busy}
      {...(busy ? { 'aria-disabled': true, onClick: refuse } : onClick && { onClick })}
    >
      {busy ? <span class="spinner" aria-hidden="true" /> : icon && <Icon name={icon} />}
      <span>{children}</span>
    </button>
  )
}

type IconButtonProps = Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'icon' | 'label'> & {
  icon: IconName
  /** What it does, for whoever does not see the picture. */
  label: string
}

/** Neither pressed nor, from a field of its form, submitted. */
function refuse(event: Event): void {
  event.preventDefault()
}

/** A button with nothing but a picture. */
export function IconButton({ icon, label, ...rest }: IconButtonProps) {
  return (
    <button {...rest} type="button" class="button quiet only-icon" aria-label={label} title={label}>
      <Icon name={icon} />
    </button>
  )
}

type LinkProps = Look & {
  href: string
  /** Beside this page, which goes on. */
  newTab?: boolean
  /** Before it leads there. */
  onClick?: () => void
  children: ComponentChildren
}

/** A link that looks like a button. */
export function ButtonLink({ href, newTab = false, icon, children, onClick, ...look }: LinkProps) {
  return (
    <a
      href={href}
      class={lookOf(look)}
      {...(newTab && { target: '_blank', rel: 'noreferrer' })}
      {...(onClick && { onClick })}
    >
      {icon && <Icon name={icon} />}
      <span>{children}</span>
    </a>
  )
}

function lookOf({ kind = 'plain', wide = false, big = false }: Look): string {
  return ['button', kind, wide ? 'wide' : '', big ? 'big' : ''].filter(Boolean).join(' ')
}
