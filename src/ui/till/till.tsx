import { effect } from '@preact/signals'
import { render } from 'preact'
import { ApiError } from '../../client/api-error.ts'
import { keepOffline, updated, waitForInstaller } from '../browser/install.ts'
import { Button } from '../parts/button.tsx'
import { Frame } from '../parts/frame.tsx'
import { Icon, type IconName } from '../parts/icon.tsx'
import { Notice } from '../parts/notice.tsx'
import { knownLogo, knownName } from '../state/merchant-names.ts'
import { moved, reachable, watchService } from '../state/reach.ts'
import { shops } from '../state/shops.ts'
import { errorText } from '../words/errors.ts'
import { tillWords as t } from '../words/till.ts'
import { tillName } from './issue-state.ts'
import { IssueView } from './issue-view.tsx'
import { AskPin } from './key-view.tsx'
import { RedeemView } from './redeem-view.tsx'
import { SettingsView } from './settings-view.tsx'
import { AskOffered } from './shop-view.tsx'
import { readySound } from './sound.ts'
import { cameraOpen, leave, readOffer, redemption, resume, type TillTab, tab } from './state.ts'
import { listenToScanner } from './typing.ts'

const tabs: readonly (readonly [TillTab, IconName])[] = [
  ['redeem', 'qr'],
  ['issue', 'ticket'],
  ['settings', 'settings'],
]

/** The shop of this till, where it has one; null for several. */
function ownShop(): string | null {
  const [npub, ...others] = shops.value
  return npub === undefined || others.length > 0 ? null : npub
}

function ownName(): string | null {
  const npub = ownShop()
  return npub && knownName(npub)
}

function ownLogo(): string | null {
  const npub = ownShop()
  return npub && knownLogo(npub)
}

function Till() {
  const shown = tab.value
  return (
    <Frame home="/caja" name={ownName()} logo={ownLogo()} device={tillName.value} narrow>
      <nav class="till-tabs" aria-label={t('sections')}>
        {tabs.map(([name, icon]) => (
          <button
            key={name}
            type="button"
            class="till-tab"
            aria-current={name === shown ? 'page' : undefined}
            onClick={() => go(name)}
          >
            <Icon name={icon} />
            <span>{t(`tab.${name}`)}</span>
          </button>
        ))}
      </nav>
      {moved.value && <Notice tone="moved">{errorText(new ApiError('moved'))}</Notice>}
      {!reachable.value && <Notice tone="wait">{t('offline.banner')}</Notice>}
      {/* Not during a redemption: a reload would put its outcome away. */}
      {updated.value && redemption.value.step === 'idle' && (
        <Notice tone="accent">
          <div class="row apart">
            <span>{t('update.ready')}</span>
            <Button onClick={() => location.reload()}>{t('update.action')}</Button>
          </div>
        </Notice>
      )}
      <div class="till-view">
        {shown === 'redeem' && <RedeemView />}
        {shown === 'issue' && <IssueView />}
        {shown === 'settings' && <SettingsView />}
      </div>
      <AskPin />
      <AskOffered />
    </Frame>
  )
}

/** Show a tab. A tap on the current tab puts away its coupon, unless that is being redeemed. */
function go(name: TillTab): void {
  cameraOpen.value = false
  if (name === 'redeem' && redemption.peek().step !== 'redeeming') leave()
  tab.value = name
}

// Also later: scanning the panel's QR may open an address in a till that is open already.
readOffer()
window.addEventListener('hashchange', readOffer)
const app = document.getElementById('app')
if (app) render(<Till />, app)
effect(() => {
  document.title = t('title.of', { who: ownName() ?? 'Cuponera' })
})
watchService()
readySound()
listenToScanner()
waitForInstaller()
resume()
void keepOffline()
