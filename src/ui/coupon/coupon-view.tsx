import type { RefObject } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { systemClock } from '../../base/clock.ts'
import { shownPath } from '../../client/images.ts'
import { painted } from '../browser/painted.ts'
import { couponLink, linkReach } from '../browser/share.ts'
import { useArrival } from '../parts/arrival.ts'
import { Button } from '../parts/button.tsx'
import { CouponCard, CouponFine } from '../parts/coupon-card.tsx'
import { saveImage } from '../parts/coupon-picture.ts'
import { Empty } from '../parts/empty.tsx'
import { Icon } from '../parts/icon.tsx'
import { Badge, Notice } from '../parts/notice.tsx'
import { QrCode } from '../parts/qr-code.tsx'
import { say } from '../parts/toast.tsx'
import { WrittenCode } from '../parts/written-code.tsx'
import { knownColor, knownLogo, knownName } from '../state/merchant-names.ts'
import { moved } from '../state/reach.ts'
import { shownName } from '../words/benefit-text.ts'
import { couponWords as t } from '../words/coupon.ts'
import { moment } from '../words/format.ts'
import { handWords } from '../words/hand.ts'
import { notNowText, rulesLines } from '../words/rules-text.ts'
import { type Held, type Status, statusNow } from './holdings.ts'
import { statusTone } from './look.ts'
import { PassOn } from './pass-on.tsx'
import { useRemoval } from './removal.tsx'
import { Retrying, useProgressFocus } from './retrying.tsx'
import { openSendText, SendView } from './send-view.tsx'
import { ShopLine } from './shop-line.tsx'
import {
  askNow,
  holdings,
  isKept,
  isKeptUnseen,
  keep,
  look,
  openList,
  openNonce,
  taking,
  view,
} from './state.ts'
import { TakeButton } from './take-button.tsx'
import { CodeAlone, Looking, Unreachable } from './unreachable.tsx'

/** Longer terms stand below the code, which the till asks for: above it they would push it off a small screen. */
const shortTermsChars = 120

function hasLongTerms({ description, rules }: Held): boolean {
  return [description, ...rulesLines(rules)].join('').length > shortTermsChars
}

/** One coupon: its benefit, its merchant, and the actions of its holder. */
export function CouponView() {
  const now = view.value
  const heading = useArrival()
  return (
    <div class="stack wide">
      <div>
        <Button kind="quiet" icon="back" onClick={openList}>
          {t('back')}
        </Button>
      </div>
      <div class="row apart">
        <h1 ref={heading} tabIndex={-1}>
          {t('title')}
        </h1>
        {now.step === 'shown' && <StatusBadge held={now.held} />}
      </div>
      {now.step === 'looking' && <Looking />}
      {now.step === 'unknown' && (
        <Empty icon="search" title={t('status.unknown')}>
          <p>{t('status.unknown.detail')}</p>
        </Empty>
      )}
      {now.step === 'unreachable' && <Untold message={now.message} />}
      {now.step === 'shown' && <Shown held={now.held} fresh={now.fresh} />}
    </div>
  )
}

/** A coupon that the service did not tell about: of one that has moved, only the code is left. */
function Untold({ message }: { message: string | null }) {
  const nonce = openNonce.value ?? ''
  if (moved.value) return <CodeAlone nonce={nonce} />
  return (
    <Unreachable message={message} detail={t('offline.none')} onAgain={() => void look(nonce)}>
      {isKeptUnseen(nonce) && <p>{t('unseen.kept')}</p>}
    </Unreachable>
  )
}

/** During a swap nobody should show or send a nonce that may be spent. A service that has moved finishes none. */
function isSwapping(): boolean {
  return taking.value?.step === 'taking' && !moved.value
}

function StatusBadge({ held }: { held: Held }) {
  const status = statusNow(held, systemClock())
  return <Badge tone={statusTone[status]}>{t(`status.${status}`)}</Badge>
}

/** The parts of a coupon that are on the screen: each comes after the paint of the one before. */
type Drawn = 'benefit' | 'code' | 'all'
const nextDrawn = { benefit: 'code', code: 'all', all: null } as const

/** A slow phone takes a tenth of a second for each part, and shows the benefit and the code before the rest. */
function useDrawn(): Drawn {
  const [drawn, setDrawn] = useState<Drawn>('benefit')
  useLayoutEffect(() => {
    const next = nextDrawn[drawn]
    if (next !== null) void painted().then(() => setDrawn(next))
  }, [drawn])
  return drawn
}

function Shown({ held, fresh }: { held: Held; fresh: boolean }) {
  const [sending, setSending] = useState(false)
  const { name, description, coupon: benefit, expiresAt, rules, npub, status } = held
  const usable = status === 'minted'
  const overdue = statusNow(held, systemClock()) === 'overdue'
  const notNow = usable && !overdue ? notNowText(held) : null
  return (
    <>
      <CouponCard
        coupon={{ name, description, benefit, expiresAt, rules, image: shownPath(held) }}
        color={knownColor(npub)}
        spent={!usable}
        brief={usable && !isSwapping() && hasLongTerms(held)}
      />
      {/* Its code stays: the clock of the device may be wrong, and the till asks the service. */}
      {overdue && <Notice tone="wait">{t('overdue', { when: moment(expiresAt ?? 0) })}</Notice>}
      {notNow !== null && <Notice tone="wait">{notNow}</Notice>}
      <ShopLine npub={npub} />
      {!fresh && (
        <Notice tone="wait">
          {!moved.value && <strong>{t('offline.title')}</strong>}
          <p>{t('offline.kept', { when: moment(held.checkedAt) })}</p>
        </Notice>
      )}
      <TakingNotice />
      <BelowBenefit held={held} status={status} onSend={() => setSending(true)} />
      {/* Outside of Usable: the dialog must stay to tell that the coupon is no longer usable. */}
      {sending && <SendView held={held} onClose={() => setSending(false)} />}
    </>
  )
}

type BelowProps = { held: Held; status: Status; onSend: () => void }

/** All that is drawn after the benefit, which is not rendered again for it. */
function BelowBenefit({ held, status, onSend }: BelowProps) {
  const drawn = useDrawn()
  const place = useRef<HTMLDivElement>(null)
  return (
    <>
      <div ref={place} class="stack" tabIndex={-1}>
        {status === 'minted' ? (
          <Usable held={held} drawn={drawn} onSend={onSend} place={place} />
        ) : (
          <Ended held={held} status={status} />
        )}
      </div>
      {drawn === 'all' && isKept(held.nonce) && <KeptRow held={held} />}
    </>
  )
}

/** The reason why the coupon can no longer be used. */
function Ended({ held, status }: { held: Held; status: Status }) {
  const at = status === 'claimed' ? held.claimedAt : held.expiresAt
  // During a swap the old nonce may be spent already, which is no bad news.
  if (isSwapping()) return null
  return (
    <Notice tone={statusTone[status]}>
      {t(`status.${status}.detail`, { when: at === null ? '' : moment(at) })}
    </Notice>
  )
}

type UsableProps = {
  held: Held
  drawn: Drawn
  onSend: () => void
  place: RefObject<HTMLElement | null>
}

/** The QR and the actions of a coupon that can be used. */
function Usable({ held, drawn, onSend, place }: UsableProps) {
  // The coupon may end by itself. The focus of a button that goes stays at its place, where the reason is.
  // A layout effect, since a passive one is cleaned up after the button has gone.
  useLayoutEffect(
    () => () => {
      const around = place.current
      if (around?.contains(document.activeElement)) around.focus({ preventScroll: true })
    },
    [],
  )
  if (isSwapping()) return null
  return (
    <>
      <ShownQr held={held} drawn={drawn} />
      {drawn === 'all' && <BelowQr held={held} onSend={onSend} />}
    </>
  )
}

function BelowQr({ held, onSend }: { held: Held; onSend: () => void }) {
  return (
    <>
      {hasLongTerms(held) && (
        <section class="sheet stack tight" aria-labelledby="terms">
          <h2 id="terms">{t('terms')}</h2>
          <CouponFine {...held} />
        </section>
      )}
      {held.sent && held.sent.outcome !== 'sent' && (
        <Notice tone="wait">{openSendText(held.sent)}</Notice>
      )}
      {/* A coupon that nobody else knows needs no swap. */}
      {(!held.own || held.sent !== null) && !moved.value && <TakeBox held={held} />}
      <Actions held={held} onSend={onSend} />
    </>
  )
}

function ShownQr({ held, drawn }: { held: Held; drawn: Drawn }) {
  const [big, setBig] = useState(false)
  const [signed, setSigned] = useState(false)
  const { voucher } = held
  const name = shownName(held.name, held.coupon)
  return (
    <section class="stack center">
      <button
        type="button"
        class={big ? 'qr-button big' : 'qr-button'}
        aria-label={t(big ? 'qr.smaller' : 'qr.bigger')}
        aria-expanded={big}
        onClick={() => setBig(!big)}
      >
        {drawn === 'benefit' ? (
          <div class="qr" />
        ) : voucher && signed ? (
          <QrCode text={JSON.stringify(voucher)} label={t('qr.signed', { name })} dense />
        ) : (
          <QrCode text={couponLink(held.nonce)} label={t('qr', { name })} />
        )}
      </button>
      <p class="soft">{t(signed ? 'qr.signed.detail' : 'status.minted.detail')}</p>
      {drawn === 'all' && !big && <WrittenCode nonce={held.nonce} />}
      {voucher && (
        <Button
          kind="quiet"
          icon="key"
          aria-pressed={signed}
          onClick={() => {
            setSigned(!signed)
            // A signed code has tiny modules, which a camera reads only at full size.
            setBig(!signed)
          }}
        >
          {t('qr.signed.show')}
        </Button>
      )}
    </section>
  )
}

function TakeBox({ held }: { held: Held }) {
  // One is primary: where the page opens in one network only, the picture.
  const kind = linkReach() === 'network' ? 'plain' : 'primary'
  return (
    <section class="sheet stack" aria-labelledby="take">
      <h2 id="take">{t('take.title')}</h2>
      <p>{t('take.detail')}</p>
      <TakeButton held={held} kind={kind} big>
        {t('take.action')}
      </TakeButton>
    </section>
  )
}

/** The progress of "make it mine". Its outcome stays until the next coupon. */
function TakingNotice() {
  const now = taking.value
  const box = useProgressFocus(now?.step)
  if (!now) return null
  return (
    <div ref={box} tabIndex={-1}>
      {now.step === 'taking' && (
        <Retrying lost={now.lost} retryAfter={now.retryAfter} t={t} onAgain={askNow} />
      )}
      {now.step === 'mine' && (
        <Notice tone={now.kept ? 'good' : 'bad'}>
          {t(now.kept ? 'take.done' : 'take.unkept')}
        </Notice>
      )}
      {now.step === 'gone' && <Notice tone="bad">{t('take.gone')}</Notice>}
      {now.step === 'refused' && <Notice tone="bad">{now.message ?? t('take.gone')}</Notice>}
    </div>
  )
}

/** A coupon that this device keeps, and the way to remove it. */
function KeptRow({ held }: { held: Held }) {
  const removal = useRemoval(held)
  // A swap would bring it back.
  if (taking.value?.step === 'taking') return null
  return (
    <div class="row apart">
      <p class="with-icon small" role="status">
        <Icon name="check" />
        <span>{t('kept')}</span>
      </p>
      <Button kind="quiet" icon="trash" aria-label={t('mine.remove')} onClick={removal.begin}>
        {t('remove')}
      </Button>
      {removal.question}
    </div>
  )
}

function Actions({ held, onSend }: { held: Held; onSend: () => void }) {
  const [passing, setPassing] = useState(false)
  const unkept = !isKept(held.nonce)
  const near = linkReach() === 'network'
  return (
    <section class="stack" aria-label={t('more')}>
      {held.own && (
        <p class="with-icon small">
          <Icon name="lock" />
          <span>{t('take.own')}</span>
        </p>
      )}
      {unkept && holdings.full() && <Notice tone="wait">{t('kept.full')}</Notice>}
      <div class="stack buttons">
        {unkept && (
          <Button
            icon="archive"
            onClick={() => {
              // The reason stands above, where the list is full.
              if (!keep(held)) say(t('kept.not'), 'bad')
            }}
          >
            {t('keep')}
          </Button>
        )}
        {/* It shows where the page does not open. */}
        <Button
          kind={near ? 'primary' : 'plain'}
          icon="image"
          onClick={() => void saveImage(held, shopOf(held.npub))}
        >
          {t('image')}
        </Button>
        {near && <p class="soft small">{t('image.network')}</p>}
        <Button icon="share" onClick={() => setPassing(true)}>
          {handWords('pass.title')}
        </Button>
        {!moved.value && (
          <Button icon="send" onClick={onSend}>
            {t('send.title')}
          </Button>
        )}
      </div>
      {passing && <PassOn held={held} onClose={() => setPassing(false)} />}
    </section>
  )
}

function shopOf(npub: string) {
  return { shop: knownName(npub), color: knownColor(npub), logo: knownLogo(npub) }
}
