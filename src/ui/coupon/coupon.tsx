import { effect } from '@preact/signals'
import { render } from 'preact'
import { keepOffline } from '../browser/install.ts'
import { Frame } from '../parts/frame.tsx'
import { knownName } from '../state/merchant-names.ts'
import { watchService } from '../state/reach.ts'
import { couponWords as t } from '../words/coupon.ts'
import { CouponView } from './coupon-view.tsx'
import { MineView } from './mine-view.tsx'
import { follow, openNonce, readAddress, resume, view } from './state.ts'

/** The shop of the coupon on the screen, or null. */
function shopName(): string | null {
  const now = view.value
  return openNonce.value !== null && now.step === 'shown' ? knownName(now.held.npub) : null
}

function Page() {
  return (
    <Frame home="/c" name={shopName()} narrow>
      {openNonce.value === null ? <MineView /> : <CouponView key={openNonce.value} />}
    </Frame>
  )
}

// First of all: the nonce leaves the address bar before anything else runs.
readAddress()
window.addEventListener('hashchange', readAddress)
window.addEventListener('popstate', readAddress)
const app = document.getElementById('app')
if (app) render(<Page />, app)
effect(() => {
  const who = shopName()
  const title = who === null ? t('title') : t('title.of', { who })
  document.title = openNonce.value === null ? t('mine') : title
})
watchService()
resume()
follow()
void keepOffline()
