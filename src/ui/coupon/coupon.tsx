import { effect, untracked } from '@preact/signals'
import { render } from 'preact'
import { keepOffline } from '../browser/install.ts'
import { nextTask, painted } from '../browser/painted.ts'
import { Frame } from '../parts/frame.tsx'
import { Notice } from '../parts/notice.tsx'
import { knownLogo, knownName } from '../state/merchant-names.ts'
import { moved, watchService } from '../state/reach.ts'
import { couponWords as t } from '../words/coupon.ts'
import { posterWords as p } from '../words/poster.ts'
import { CouponView } from './coupon-view.tsx'
import { MineView } from './mine-view.tsx'
import { posterView, showPoster, watchPosters } from './poster-state.ts'
import { PosterView } from './poster-view.tsx'
import { follow, openNonce, openPoster, readAddress, resume, view } from './state.ts'

/** The key of the shop of the coupon or the poster on the screen, or null. */
function shopKey(): string | null {
  if (openPoster.value !== null) {
    const now = posterView.value
    return now.step === 'shown' ? now.shown.npub : null
  }
  const now = view.value
  return openNonce.value !== null && now.step === 'shown' ? now.held.npub : null
}

function shopName(): string | null {
  const npub = shopKey()
  return npub && knownName(npub)
}

function shopLogo(): string | null {
  const npub = shopKey()
  return npub && knownLogo(npub)
}

function pageTitle(): string {
  const who = shopName()
  if (openPoster.value !== null) return who === null ? p('title') : p('title.of', { who })
  if (openNonce.value === null) return t('mine')
  return who === null ? t('title') : t('title.of', { who })
}

function Content() {
  if (openPoster.value !== null) return <PosterView key={openPoster.value} id={openPoster.value} />
  return openNonce.value === null ? <MineView /> : <CouponView key={openNonce.value} />
}

function Page() {
  return (
    <Frame home="/c" name={shopName()} logo={shopLogo()} narrow>
      <div class="stack">
        {moved.value && <Notice tone="moved">{t('moved')}</Notice>}
        <Content />
      </div>
    </Frame>
  )
}

/** Draw the page, and start what it does besides: each in a task of its own, for a slow phone takes long for any. */
async function start(): Promise<void> {
  await nextTask()
  const app = document.getElementById('app')
  if (app) render(<Page />, app)
  effect(() => {
    document.title = pageTitle()
  })
  effect(() => {
    const id = openPoster.value
    if (id !== null) untracked(() => showPoster(id))
  })
  await nextTask()
  // A coupon or a poster was asked for, so its answer shows whether the service is there.
  watchService({ asking: Boolean(openNonce.peek() ?? openPoster.peek()) })
  resume()
  watchPosters()
  await painted()
  void keepOffline()
}

// First of all: the nonce leaves the address bar before anything else runs.
readAddress()
window.addEventListener('hashchange', readAddress)
window.addEventListener('popstate', readAddress)
follow()
void start()
