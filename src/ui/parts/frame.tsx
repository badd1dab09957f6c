import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import { commonWords as t } from '../words/common.ts'
import { Icon } from './icon.tsx'
import { Preferences } from './preferences.tsx'
import { Toasts } from './toast.tsx'

type Props = {
  /** Where the name of the product leads. */
  home: string
  /** Beside the preferences. */
  actions?: ComponentChildren
  /** The way to other parts of the page; who skips to the content skips it. */
  sections?: ComponentChildren
  narrow?: boolean
  children: ComponentChildren
}

/** What every page has around it. */
export function Frame({ home, actions, sections, narrow = false, children }: Props) {
  const main = useRef<HTMLElement>(null)
  return (
    <>
      {/* No link: what follows the # is a coupon's code on one page, and a view on another. */}
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        {t('skip.main')}
      </button>
      <header class="top">
        <div class="top-inner">
          <a class="brand" href={home}>
            <Icon name="ticket" size={26} />
            Cuponera
          </a>
          <div class="grow" />
          {actions}
          <Preferences />
        </div>
      </header>
      {sections}
      <main ref={main} id="main" class={narrow ? 'main narrow' : 'main'} tabIndex={-1}>
        {children}
      </main>
      <Toasts />
    </>
  )
}
