import { effect } from '@preact/signals'
import { render } from 'preact'
import { keepOffline } from '../browser/install.ts'
import { Frame } from '../parts/frame.tsx'
import { watchService } from '../state/reach.ts'
import { couponWords as t } from '../words/coupon.ts'
import { CouponView } from './coupon-view.tsx'
import { MineView } from './mine-view.tsx'
import { open, readAddress, resume } from './state.ts'

function Page() {
  return (
    <Frame home="/c" narrow>
      {open.value === null ? <MineView /> : <CouponView key={open.value} />}
    </Frame>
  )
}

readAddress()
window.addEventListener('hashchange', readAddress)
window.addEventListener('popstate', readAddress)
const app = document.getElementById('app')
if (app) render(<Page />, app)
effect(() => {
  document.title = open.value === null ? t('mine') : t('title')
})
watchService()
resume()
void keepOffline()
