import { effect } from '@preact/signals'
import { render } from 'preact'
import { useEffect } from 'preact/hooks'
import { ApiError } from '../../client/api-error.ts'
import { followRoute, hrefTo, route } from '../browser/route.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Empty } from '../parts/empty.tsx'
import { Failure } from '../parts/failure.tsx'
import { Frame } from '../parts/frame.tsx'
import { Notice } from '../parts/notice.tsx'
import { PrintRoom } from '../parts/print.tsx'
import { watchService } from '../state/reach.ts'
import { couponWords as t } from '../words/coupons.ts'
import { Account } from './account.tsx'
import { Coupon } from './coupon.tsx'
import { Coupons } from './coupons.tsx'
import { Editor } from './editor.tsx'
import { Home } from './home.tsx'
import { later } from './later.tsx'
import { follow, outOfReach } from './live-stream.ts'
import { lookForMove, moved } from './moved-state.ts'
import { ownLogo, ownName, syncShop } from './own-shop.ts'
import { Redemptions } from './redemptions.tsx'
import { WaitingNotice } from './remote-wait.tsx'
import { NotAllowed, Setup } from './setup.tsx'
import { heldCode, readSetupCode } from './setup-code.ts'
import { SignIn, Welcome } from './sign-in.tsx'
import { failure, findCoupon, letIn, loadOverview, overview, session, signOut } from './state.ts'
import { Tills } from './tills.tsx'
import { findUnsaved } from './unsaved.ts'

const Moved = later(async () => (await import('./moved.tsx')).Moved)

const sections = ['home', 'coupons', 'redemptions', 'tills'] as const

function Panel() {
  const who = session.who.value
  const pubkey = who?.pubkey
  useEffect(() => {
    if (pubkey) void loadOverview()
  }, [pubkey])
  // The overview shows that this key may manage.
  const seen = overview.value
  useEffect(() => {
    if (seen) void syncShop()
  }, [seen])
  // A stream that was refused starts again as soon as the key is let in.
  const times = letIn.value
  const waiting = heldCode.value !== null
  useEffect(() => {
    // A key with a setup code is let in first. The code is forgotten then.
    if (!pubkey || waiting) return
    const stop = new AbortController()
    void follow(stop.signal)
    return () => stop.abort()
  }, [pubkey, times, waiting])
  useEffect(() => {
    if (!pubkey) void lookForMove()
  }, [pubkey])
  if (moved.value || (!overview.value && hasMoved(failure.value))) {
    return (
      <Frame home="/panel">
        <Moved />
      </Frame>
    )
  }
  if (!who) {
    return (
      <Frame home="/panel">
        <Welcome />
      </Frame>
    )
  }
  const outside = !overview.value && refused(failure.value)
  return (
    // A key that was not let in has no sections to go to.
    <Frame
      home="#/"
      name={ownName()}
      logo={ownLogo()}
      actions={<Account />}
      sections={!outside && <Sections />}
    >
      {/* Removed while at work: what is on the screen stays, see `refused`. */}
      {overview.value && (refused(failure.value) || hasMoved(failure.value)) && (
        <div class="lost">
          <Failure cause={failure.value} />
        </div>
      )}
      {outOfReach.value && (
        <div class="lost">
          <Notice tone="wait">{t('lost.service')}</Notice>
        </div>
      )}
      <Section />
      <PrintRoom />
      <SignAgain />
    </Frame>
  )
}

function Sections() {
  return (
    <nav class="sections" aria-label={t('nav.label')}>
      <div class="tabs">
        {sections.map((name) => (
          <a
            key={name}
            class="tab"
            href={name === 'home' ? '#/' : hrefTo(name)}
            {...(name === sectionOf(route.value) && { 'aria-current': 'page' as const })}
          >
            {t(`nav.${name}`)}
          </a>
        ))}
      </div>
    </nav>
  )
}

/** The tab of a view; the wizard belongs to the coupons. */
function sectionOf([first = 'home']: readonly string[]): (typeof sections)[number] {
  if (first === 'new') return 'coupons'
  return sections.find((name) => name === first) ?? 'home'
}

/** Whether this key may not manage coupons. Dialogs stay open then: they may show codes that nobody has yet. */
function refused(cause: unknown): cause is ApiError {
  return cause instanceof ApiError && cause.code === 'merchant-not-allowed'
}

/** Whether this service goes on at another computer. */
function hasMoved(cause: unknown): boolean {
  return cause instanceof ApiError && cause.code === 'moved'
}

function Section() {
  const shown = overview.value
  const [first = 'home', id, third] = route.value
  if (!shown) {
    const { value } = failure
    // Before the first merchant, the code of the operator lets a key in; later, only the owner does.
    if (refused(value)) return value.setup ? <Setup /> : <NotAllowed />
    return value === null ? (
      <p class="soft" role="status">
        {t('loading')}
      </p>
    ) : (
      <div class="stack">
        <Failure cause={value} />
        <div class="row">
          <Button onClick={() => void loadOverview()}>{t('retry')}</Button>
          <Button onClick={signOut}>{t('me.out')}</Button>
        </div>
      </div>
    )
  }
  // The key is part of the name: another merchant may sign in on this tab.
  const placeOf = (name: string) => `${session.who.value?.pubkey}:${name}`
  // Keys, or Preact would reuse the state of one coupon for another.
  if (first === 'new') {
    const name = id === undefined ? 'new' : `new:${id}`
    const model = id === undefined ? null : findCoupon(id)
    return <Editor key={name} coupon={null} model={model} place={placeOf(name)} />
  }
  if (first === 'redemptions') return <Redemptions coupons={shown.coupons} />
  if (first === 'tills') return <Tills minters={shown.minters} />
  if (first !== 'coupons') return <Home overview={shown} />
  if (id === undefined) return <Coupons coupons={shown.coupons} />
  const coupon = findCoupon(id)
  const place = placeOf(id)
  // A draft outlives its coupon, which another window may delete.
  if (third === 'edit' && (coupon || findUnsaved(place))) {
    return <Editor key={id} coupon={coupon} place={place} />
  }
  return coupon ? (
    <Coupon key={id} coupon={coupon} />
  ) : (
    <Empty icon="search" title={t('coupon.unknown')} />
  )
}

/** Asks for a signature when the session has ended. It is a dialog, so that typed text stays behind it. */
function SignAgain() {
  const asking = session.asking.value
  if (!asking) {
    return (
      <div class="floating">
        <WaitingNotice />
      </div>
    )
  }
  return (
    // No `onClose`: Escape would reject the request that waits for the signature.
    <Dialog title={t('in.again')}>
      <div class="stack">
        <p class="soft">{t('in.again.why')}</p>
        <SignIn only={asking.pubkey} />
        <div>
          <Button kind="quiet" icon="exit" onClick={signOut}>
            {t('in.again.leave')}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}

// Before the first render and the first route: the fragment is either a code or a view.
readSetupCode()
window.addEventListener('hashchange', readSetupCode)
followRoute()
watchService({ asking: true })
effect(() => {
  const section = session.who.value ? t(`nav.${sectionOf(route.value)}`) : t('nav.panel')
  document.title = t('title.of', { section, who: ownName() ?? 'Cuponera' })
})
const app = document.getElementById('app')
if (app) render(<Panel />, app)
