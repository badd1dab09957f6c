import { useState } from 'preact/hooks'
import type { Overview } from '../../client/models.ts'
import { useArrival } from '../parts/arrival.ts'
import { Badge } from '../parts/notice.tsx'
import { moment } from '../words/format.ts'
import { ownShopWords as own } from '../words/own-shop.ts'
import { panelWords as t } from '../words/panel.ts'
import { Backup, needsBackup } from './account.tsx'
import { listening } from './changes.ts'
import { Chart } from './chart.tsx'
import { Checklist } from './checklist.tsx'
import { liveEvents, sentenceOf } from './live-events.ts'
import { unnamed } from './own-shop.ts'
import { SecondCopyReminder, wantsSecondCopy } from './second-copy.tsx'
import { ShopForm } from './shop-form.tsx'
import { allFigures, findCoupon, keyBox, session } from './state.ts'
import { Totals } from './totals.tsx'

/** The first page: first steps, counters, latest events and the chart. */
export function Home({ overview }: { overview: Overview }) {
  const who = session.who.value
  const heading = useArrival()
  // Only renders again: whether a backup is needed is read from the storage.
  const [, setAsked] = useState(0)
  const figures = allFigures()
  const used = figures.issued > 0
  // A new merchant has nothing to lose yet, and other steps first. Where the browser stores no key, it is urgent.
  const fleeting = !keyBox.lasts()
  const wanted = who?.kind === 'local' && needsBackup(who.pubkey)
  const backup = wanted && (overview.coupons.length > 0 || fleeting) && (
    <Backup pubkey={who.pubkey} onDone={() => setAsked((times) => times + 1)} />
  )
  const key = keyBox.find()?.pubkey
  const second = !wanted && figures.claimed > 0 && key === who?.pubkey && key !== undefined
  // Below the first steps, it does not move the button of the next one away from the finger.
  const beginning = figures.claimed === 0 && !fleeting
  return (
    <div class="stack wide">
      <h1 ref={heading}>{t('home.title')}</h1>
      {!beginning && backup}
      {second && wantsSecondCopy(key) && (
        <SecondCopyReminder pubkey={key} onLater={() => setAsked((times) => times + 1)} />
      )}
      {unnamed.value && (
        <section class="sheet stack" aria-label={own('shop.missing')}>
          <h2>{own('shop.missing')}</h2>
          <ShopForm />
        </section>
      )}
      <Checklist overview={overview} />
      {beginning && backup}
      {used && <Totals figures={figures} remaining={null} />}
      <div class="beside">
        <Now />
        {used && (
          <div class="sheet">
            <Chart />
          </div>
        )}
      </div>
    </div>
  )
}

/** The latest events of the live stream. */
function Now() {
  // A coupon that was deleted has no name any more.
  const list = liveEvents.value.flatMap((event) => {
    const coupon = findCoupon(event.couponId)
    return coupon ? [{ event, coupon }] : []
  })
  return (
    <section class="sheet stack" aria-labelledby="now">
      <div class="row apart">
        <h2 id="now">{t('home.now')}</h2>
        <Badge tone={listening.value ? 'good' : 'idle'}>
          {listening.value ? t('home.now.on') : t('home.now.off')}
        </Badge>
      </div>
      {list.length === 0 ? (
        <p class="soft">{t('home.now.empty')}</p>
      ) : (
        <ol class="feed" aria-live="polite">
          {/* Enough to see the shop at work; the lists have the rest. */}
          {list.slice(0, 8).map(({ coupon, event }) => (
            <li
              key={`${event.at}${event.type}${event.handle ?? coupon.id}`}
              class={`feed-${event.type}`}
            >
              <span>{sentenceOf(event, coupon)}</span>
              <span class="soft small number">{moment(event.at)}</span>
            </li>
          ))}
        </ol>
      )}
    </section>
  )
}
