import { shownPath } from '../../client/images.ts'
import type { ShownPoster } from '../../client/models.ts'
import { useArrival } from '../parts/arrival.ts'
import { Button } from '../parts/button.tsx'
import { CouponCard } from '../parts/coupon-card.tsx'
import { Empty } from '../parts/empty.tsx'
import { Notice } from '../parts/notice.tsx'
import { knownColor, knownName } from '../state/merchant-names.ts'
import { moved } from '../state/reach.ts'
import { momentAfter } from '../words/format.ts'
import { refusalWords, posterWords as t } from '../words/poster.ts'
import {
  hasTaken,
  lookAtPoster,
  posterTaking,
  posterView,
  takeCoupon,
  takeNow,
  takesLast,
} from './poster-state.ts'
import { Retrying, useProgressFocus } from './retrying.tsx'
import { ShopLine } from './shop-line.tsx'
import { openList } from './state.ts'
import { Looking, Unreachable } from './unreachable.tsx'

/** A poster: its coupon, and the button that takes one. */
export function PosterView({ id }: { id: string }) {
  const now = posterView.value
  const heading = useArrival()
  const who = now.step === 'shown' ? knownName(now.shown.npub) : null
  return (
    <div class="stack wide">
      <h1 ref={heading} tabIndex={-1}>
        {who === null ? t('title') : t('title.of', { who })}
      </h1>
      {now.step === 'looking' && <Looking />}
      {now.step === 'unknown' && (
        <Empty icon="search" title={t('unknown')}>
          <p>{t('unknown.detail')}</p>
        </Empty>
      )}
      {now.step === 'unreachable' && moved.value && <Empty icon="search" title={t('take.moved')} />}
      {now.step === 'unreachable' && !moved.value && (
        <Unreachable
          message={now.message}
          detail={t('offline.detail')}
          onAgain={() => void lookAtPoster(id)}
        />
      )}
      {now.step === 'shown' && <Shown id={id} shown={now.shown} />}
      <div>
        <Button kind="quiet" icon="ticket" onClick={openList}>
          {t('mine')}
        </Button>
      </div>
    </div>
  )
}

function Shown({ id, shown }: { id: string; shown: ShownPoster }) {
  const { name, description, coupon: benefit, expiresAt, rules, npub, poster } = shown
  return (
    <>
      <CouponCard
        coupon={{ name, description, benefit, expiresAt, rules, image: shownPath(shown) }}
        color={knownColor(npub)}
        spent={poster.state === 'ended' || poster.state === 'exhausted'}
      />
      <ShopLine npub={npub} />
      <Progress />
      {posterTaking.value?.step !== 'taking' && <Offer id={id} poster={poster} />}
    </>
  )
}

/** The take that is under way, or the reason why it was refused. */
function Progress() {
  const now = posterTaking.value
  const box = useProgressFocus(now?.step)
  if (!now || now.step === 'taken') return null
  return (
    <div ref={box} tabIndex={-1}>
      {now.step === 'taking' && (
        <Retrying lost={now.lost} retryAfter={now.retryAfter} t={t} onAgain={takeNow} />
      )}
      {now.step === 'refused' && (
        <Notice tone={now.code === 'poster-taken' ? 'idle' : 'bad'}>
          {refusalWords(now.code, now.message)}
        </Notice>
      )}
    </div>
  )
}

type OfferProps = { id: string; poster: ShownPoster['poster'] }

/** The state of the poster in words, and the actions that it allows. */
function Offer({ id, poster }: OfferProps) {
  const { state, startsAt, endsAt } = poster
  const open = state === 'open'
  const had = hasTaken(id)
  const taking = posterTaking.value
  // The refusal says it already, and another one would be refused, too.
  const full = taking?.step === 'refused' && taking.code === 'poster-taken'
  return (
    <section class="stack">
      {had && !full && <Notice tone="idle">{t('taken.had')}</Notice>}
      {!open && (
        <Notice tone={state === 'ended' || state === 'exhausted' ? 'idle' : 'wait'}>
          {t(`state.${state}`, { when: momentAfter(startsAt ?? 0) })}
        </Notice>
      )}
      {open && !full && endsAt !== null && (
        <p class="soft">{t('state.until', { when: momentAfter(endsAt) })}</p>
      )}
      {open && !takesLast() && <Notice tone="wait">{t('take.unkept')}</Notice>}
      {had && (
        <Button kind="primary" big wide icon="ticket" onClick={() => takeCoupon()}>
          {t('taken.show')}
        </Button>
      )}
      {open && !had && !full && (
        <Button kind="primary" big wide icon="ticket" onClick={() => takeCoupon()}>
          {t('take')}
        </Button>
      )}
      {open && had && !full && (
        <Button big wide onClick={() => takeCoupon(true)}>
          {t('take.another')}
        </Button>
      )}
      {open && !had && takesLast() && <p class="soft small">{t('take.how')}</p>}
    </section>
  )
}
