import type { ComponentChildren } from 'preact'
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
  return (
    <>
      <a class="skip" href="#main">
        {t('skip.main')}
      </a>
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
      <main id="main" class={narrow ? 'main narrow' : 'main'} tabIndex={-1}>
        {children}
      </main>
      <Toasts />
    </>
  )
}
