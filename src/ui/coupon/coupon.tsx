import { effect } from '@preact/signals'
import { render } from 'preact'
import { keepOffline } from '../browser/install.ts'
import { Frame } from '../parts/frame.tsx'
import { watchService } from '../state/reach.ts'
import { couponWords as t } from '../words/coupon.ts'
import { CouponView } from './coupon-view.tsx'
import { MineView } from './mine-view.tsx'
import { follow, openNonce, readAddress, resume } from './state.ts'

function Page() {
  return (
    <Frame home="/c" narrow>
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
  document.title = openNonce.value === null ? t('mine') : t('title')
})
watchService()
resume()
follow()
void keepOffline()
