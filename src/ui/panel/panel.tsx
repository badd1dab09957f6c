import { render } from 'preact'
import { useEffect } from 'preact/hooks'
import { followRoute, hrefTo, route } from '../client/route.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Empty } from '../parts/empty.tsx'
import { Frame } from '../parts/frame.tsx'
import { Notice } from '../parts/notice.tsx'
import { PrintRoom } from '../parts/print.tsx'
import { couponWords as t } from '../words/coupons.ts'
import { failureText } from '../words/signer.ts'
import { Account } from './account.tsx'
import { Coupon } from './coupon.tsx'
import { Coupons } from './coupons.tsx'
import { Editor } from './editor.tsx'
import { Home } from './home.tsx'
import { follow } from './live.ts'
import { Redemptions } from './redemptions.tsx'
import { SignIn, Welcome } from './sign-in.tsx'
import { WaitingNotice } from './sign-in-remote.tsx'
import { failure, findCoupon, loadOverview, overview, session, signOut } from './state.ts'
import { Tills } from './tills.tsx'

const sections = ['home', 'coupons', 'redemptions', 'tills'] as const

function Panel() {
  const who = session.who.value
  const pubkey = who?.pubkey
  useEffect(() => {
    if (!pubkey) return
    const stop = new AbortController()
    void loadOverview()
    void follow(stop.signal)
    return () => stop.abort()
  }, [pubkey])
  if (!who) {
    return (
      <Frame home="/panel">
        <Welcome />
      </Frame>
    )
  }
  return (
    <Frame home="#/" actions={<Account />}>
      <nav class="tabs sections" aria-label={t('nav.label')}>
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
      </nav>
      <Section />
      <PrintRoom />
      <SignAgain />
    </Frame>
  )
}

function sectionOf([first = 'home']: readonly string[]): string {
  return first === 'new' ? 'coupons' : first
}

function Section() {
  const shown = overview.value
  const [first = 'home', id, third] = route.value
  if (!shown) {
    return failure.value === null ? (
      <p class="soft" role="status">
        {t('loading')}
      </p>
    ) : (
      <Notice tone="bad">
        <div class="stack tight">
          <span>{failureText(failure.value)}</span>
          <div class="row">
            <Button onClick={() => void loadOverview()}>{t('retry')}</Button>
            <Button onClick={signOut}>{t('me.out')}</Button>
          </div>
        </div>
      </Notice>
    )
  }
  if (first === 'new') return <Editor key="new" coupon={null} />
  if (first === 'redemptions') return <Redemptions coupons={shown.coupons} />
  if (first === 'tills') return <Tills minters={shown.minters} />
  if (first !== 'coupons') return <Home overview={shown} />
  if (id === undefined) return <Coupons coupons={shown.coupons} />
  const coupon = findCoupon(id)
  if (!coupon) return <Empty icon="search" title={t('coupon.unknown')} />
  return third === 'edit' ? (
    <Editor key={id} coupon={coupon} />
  ) : (
    <Coupon key={id} coupon={coupon} />
  )
}

/** The session ended under somebody's hands: what they typed stays, behind this. */
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
    <Dialog title={t('in.again')} onClose={signOut}>
      <div class="stack">
        <p class="soft">{t('in.again.why')}</p>
        <SignIn only={asking.pubkey} />
      </div>
    </Dialog>
  )
}

followRoute()
const app = document.getElementById('app')
if (app) render(<Panel />, app)
