import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import { commonWords as t } from '../words/common.ts'
import { Preferences } from './preferences.tsx'
import { ShopLogo } from './shop-logo.tsx'
import { Toasts } from './toast.tsx'

type Props = {
  /** Target of the name. */
  home: string
  /** The name of the shop that the page is about; null shows that of the product. */
  name?: string | null
  /** The path of its logo. */
  logo?: string | null
  /** The name of this device in the shop. It has a line of its own, so that it is never cut away. */
  device?: string | null
  /** Elements beside the preferences. */
  actions?: ComponentChildren
  /** Navigation of the page. The skip link jumps over it. */
  sections?: ComponentChildren
  narrow?: boolean
  children: ComponentChildren
}

/** Header and content area of every page. */
export function Frame({
  home,
  name = null,
  logo = null,
  device = null,
  actions,
  sections,
  narrow = false,
  children,
}: Props) {
  const main = useRef<HTMLElement>(null)
  return (
    <>
      {/* No link to `#main`: pages use the fragment for a nonce or a view. */}
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        {t('skip.main')}
      </button>
      <header class="top">
        <div class="top-inner">
          <div class="titled">
            <a class="brand" href={home}>
              <ShopLogo path={name === null ? null : logo} icon="ticket" size={26} />
              <span class="brand-names">
                <bdi class="brand-name">{name ?? 'Cuponera'}</bdi>
                {device !== null && <bdi class="brand-device">{device}</bdi>}
              </span>
            </a>
            <Toasts />
          </div>
          {actions}
          <Preferences
            words={{
              language: t('prefs.language'),
              dark: t('prefs.dark'),
              light: t('prefs.light'),
            }}
          />
        </div>
      </header>
      {sections}
      <main ref={main} id="main" class={narrow ? 'main narrow' : 'main'} tabIndex={-1}>
        {children}
      </main>
    </>
  )
}
