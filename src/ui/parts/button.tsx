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
    /** At work: presses are ignored and `aria-busy` says so. A disabled button would lose the focus. */
    busy?: boolean
    children: ComponentChildren
  }

/** A button with a text. Unlike in HTML, its default type is not `submit`. */
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
  /** The action in words, for screen readers and as a tooltip. */
  label: string
}

/** Cancels the click, which an Enter in a field of its form also fires. */
function refuse(event: Event): void {
  event.preventDefault()
}

/** A button with an icon only. */
export function IconButton({ icon, label, ...rest }: IconButtonProps) {
  return (
    <button {...rest} type="button" class="button quiet only-icon" aria-label={label} title={label}>
      <Icon name={icon} />
    </button>
  )
}

type LinkProps = Look & {
  href: string
  /** Opens a new tab: this page must not end. */
  newTab?: boolean
  /** Called before the browser follows the link. */
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
