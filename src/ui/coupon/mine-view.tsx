import { useEffect, useState } from 'preact/hooks'
import { systemClock } from '../../base/clock.ts'
import { parseScan } from '../../client/scan.ts'
import { useArrival } from '../parts/arrival.ts'
import { Button, IconButton } from '../parts/button.tsx'
import { CodeField, slipIn } from '../parts/code-field.tsx'
import { Empty } from '../parts/empty.tsx'
import { Fitted } from '../parts/fitted.tsx'
import { Badge, Notice } from '../parts/notice.tsx'
import { worthOf } from '../parts/shop-shade.ts'
import { say } from '../parts/toast.tsx'
import { knownColor, merchantName } from '../state/merchant-names.ts'
import { moved, reachable } from '../state/reach.ts'
import { benefitBadge, benefitText, nameTells, shownName } from '../words/benefit-text.ts'
import { couponWords as t } from '../words/coupon.ts'
import { moment } from '../words/format.ts'
import { notNowText, rulesLines } from '../words/rules-text.ts'
import { untilText } from '../words/until.ts'
import { type Held, statusNow } from './holdings.ts'
import { statusTone } from './look.ts'
import { useRemoval } from './removal.tsx'
import { kept, lookAtAll, openCoupon, openScanned, remove, unseen } from './state.ts'
import type { Unseen } from './unseen.ts'

/** The list of coupons that this device keeps. */
export function MineView() {
  const [busy, setBusy] = useState(false)
  const heading = useArrival()
  const refresh = async () => {
    setBusy(true)
    await lookAtAll()
    setBusy(false)
  }
  useEffect(() => void refresh(), [])
  const [list, unknown] = [kept.value, unseen.value]
  const none = list.length + unknown.length === 0
  return (
    <div class="stack wide">
      <div class="stack tight">
        <h1 ref={heading} tabIndex={-1}>
          {t('mine')}
        </h1>
        {!none && <p class="soft">{t('mine.lead')}</p>}
      </div>
      {!reachable.value && <Notice tone="wait">{t('offline.title')}</Notice>}
      {none ? (
        <Empty icon="ticket" title={t('mine.none.title')}>
          <p>{t('mine.none.detail')}</p>
        </Empty>
      ) : (
        <>
          <ul class="lines held-list">
            {unknown.map((one) => (
              <UnseenLine key={one.nonce} code={one} />
            ))}
            {list.map((held) => (
              <Line key={held.nonce} held={held} />
            ))}
          </ul>
          <div>
            <Button busy={busy} onClick={() => void refresh()}>
              {t('mine.refresh')}
            </Button>
          </div>
        </>
      )}
      <TypedCode />
    </div>
  )
}

function Line({ held }: { held: Held }) {
  const removal = useRemoval(held)
  const status = statusNow(held, systemClock())
  const usable = status === 'minted'
  const notNow = usable ? notNowText(held) : null
  const worth = benefitText(held.coupon)
  const telling = nameTells(held.name, held.coupon)
  return (
    <li class="held">
      <button type="button" class="held-open" onClick={() => openCoupon(held.nonce)}>
        <span
          class={usable ? 'mint-badge worth' : 'mint-badge over'}
          style={{ '--worth': worthOf(knownColor(held.npub)) }}
        >
          <Fitted>{benefitBadge(held.coupon)}</Fitted>
        </span>
        <span class="grow">
          <strong>
            <bdi>{telling ? held.name : worth}</bdi>
          </strong>
          <span class="block small">
            <bdi>{merchantName(held.npub)}</bdi>
          </span>
          {telling && <span class="block soft small">{worth}</span>}
          {rulesLines(held.rules).map((line) => (
            <span key={line} class="block soft small">
              {line}
            </span>
          ))}
          {notNow !== null && <span class="block small">{notNow}</span>}
          <span class="block soft small">{untilText(held.expiresAt)}</span>
          <span class="block soft small">
            {t('mine.checked', { when: moment(held.checkedAt) })}
          </span>
          <Badge tone={statusTone[status]}>{t(`status.${status}`)}</Badge>
        </span>
      </button>
      <IconButton
        icon="trash"
        label={t('mine.remove.of', { name: shownName(held.name, held.coupon) })}
        onClick={removal.begin}
      />
      {removal.question}
    </li>
  )
}

/** A code that was opened without a connection. Removed without a question: nobody knows whether it has worth. */
function UnseenLine({ code: { nonce, addedAt } }: { code: Unseen }) {
  const when = moment(addedAt)
  return (
    <li class="held">
      <button type="button" class="held-open" onClick={() => openCoupon(nonce)}>
        <span class="mint-badge over">?</span>
        <span class="grow">
          <strong>{t('unseen.title')}</strong>
          <span class="block soft small">
            {t(moved.value ? 'unseen.moved' : 'unseen.detail', { when })}
          </span>
        </span>
      </button>
      <IconButton
        icon="trash"
        label={t('unseen.remove.of', { when })}
        onClick={() => {
          remove(nonce)
          say(t('mine.removed'))
        }}
      />
    </li>
  )
}

function TypedCode() {
  const [text, setText] = useState('')
  const [wrong, setWrong] = useState(false)
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        // A link, a code or a signed voucher.
        setWrong(!openScanned(parseScan(text)))
      }}
    >
      <CodeField
        label={t('open.code')}
        error={wrong ? (slipIn(text) ?? t('open.wrong')) : null}
        value={text}
        onText={(typed) => {
          setWrong(false)
          setText(typed)
        }}
        beside={<Button type="submit">{t('open.action')}</Button>}
      />
    </form>
  )
}
