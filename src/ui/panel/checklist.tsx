import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { ApiError } from '../client/api-error.ts'
import { secondsNow } from '../client/format.ts'
import { hrefTo } from '../client/route.ts'
import type { Overview } from '../client/wire.ts'
import { Button, ButtonLink } from '../parts/button.tsx'
import { Icon } from '../parts/icon.tsx'
import { Badge, Notice, type Tone } from '../parts/notice.tsx'
import { panelWords as t } from '../words/panel.ts'
import { failureText } from '../words/signer.ts'
import { useAttempt } from './attempt.ts'
import { HandOver } from './hand-over.tsx'
import { announce, deliveryOf, type RelayState } from './state.ts'

const relayTones: Record<RelayState['status'], Tone> = {
  pending: 'wait',
  delivered: 'good',
  refused: 'bad',
  expired: 'bad',
}
const pollMs = 1000

/** Four steps from nothing to a coupon that was redeemed; each shows by itself when it is done. */
export function Checklist({ overview }: { overview: Overview }) {
  const { coupons, discovery } = overview
  const [handing, setHanding] = useState(false)
  const active = coupons.find(({ archivedAt }) => archivedAt === null)
  const announced = discovery !== null
  const minted = coupons.some((coupon) => coupon.minted > 0)
  const redeemed = coupons.some((coupon) => coupon.claimed > 0)
  const done = [announced, coupons.length > 0, minted, redeemed].filter(Boolean).length
  const seen = useRef(done).current
  // Whoever came with all of it done has no first steps.
  if (done === 4 && seen === 4) return null
  return (
    <section class="sheet stack" aria-labelledby="first-steps">
      <div class="row apart">
        <h2 id="first-steps">{t('start.title')}</h2>
        <span class="soft small">{t('start.of', { done, all: 4 })}</span>
      </div>
      <progress class="progress" value={done} max={4} aria-labelledby="first-steps" />
      <ol class="steps">
        <Step done={announced} title={t('start.announce')} why={t('start.announce.why')}>
          <Announce announced={discovery?.id ?? null} />
        </Step>
        <Step done={coupons.length > 0} title={t('start.create')} why={t('start.create.why')}>
          {coupons.length === 0 && (
            <ButtonLink kind="primary" icon="plus" href={hrefTo('new')}>
              {t('start.create.do')}
            </ButtonLink>
          )}
        </Step>
        <Step done={minted} title={t('start.mint')} why={t('start.mint.why')}>
          {active && !minted && (
            <Button kind="primary" icon="qr" onClick={() => setHanding(true)}>
              {t('start.mint.do')}
            </Button>
          )}
        </Step>
        <Step done={redeemed} title={t('start.redeem')} why={t('start.redeem.why')}>
          {minted && !redeemed && (
            <ButtonLink kind="primary" icon="shop" href="/caja" newTab>
              {t('start.redeem.do')}
            </ButtonLink>
          )}
        </Step>
      </ol>
      {done === 4 && <Notice tone="good">{t('start.all')}</Notice>}
      {handing && active && (
        <HandOver coupon={active} many={false} onClose={() => setHanding(false)} />
      )}
    </section>
  )
}

type StepProps = { done: boolean; title: string; why: string; children?: ComponentChildren }

function Step({ done, title, why, children }: StepProps) {
  return (
    <li class={done ? 'step done' : 'step'}>
      <span class="step-mark" aria-hidden="true">
        {done && <Icon name="check" size={18} />}
      </span>
      <div class="grow stack tight">
        <h3>
          {title}
          {done && <span class="unseen"> ({t('start.done')})</span>}
        </h3>
        {!done && <p class="soft">{why}</p>}
        {children && <div>{children}</div>}
      </div>
    </li>
  )
}

/** Sign the announcement, and watch it arrive. */
function Announce({ announced }: { announced: string | null }) {
  const [relays, setRelays] = useState<readonly RelayState[]>([])
  const [warnings, setWarnings] = useState<readonly string[]>([])
  const { busy, failure, attempt } = useAttempt()
  useEffect(() => {
    if (announced === null) return
    let timer: ReturnType<typeof setTimeout> | undefined
    let gone = false
    const look = async () => {
      const states = await deliveryOf(announced).catch((cause: unknown) => {
        // Not handed to any relay yet, or long forgotten.
        if (cause instanceof ApiError) return []
        throw cause
      })
      if (gone) return
      setRelays(states)
      if (states.some(({ status }) => status === 'pending')) {
        timer = setTimeout(() => void look(), pollMs)
      }
    }
    void look()
    return () => {
      gone = true
      clearTimeout(timer)
    }
  }, [announced])

  const go = () =>
    void attempt(async () => {
      const { warnings: found = [] } = await announce(secondsNow())
      setWarnings(found.map(({ code }) => code))
    })
  const unusable = failure instanceof ApiError && failure.code === 'announcement-url'
  return (
    <div class="stack tight">
      {announced === null && (
        <div>
          <Button kind="primary" icon="send" busy={busy} onClick={go}>
            {t('start.announce.do')}
          </Button>
        </div>
      )}
      {failure !== null && (
        <Notice tone={unusable ? 'wait' : 'bad'}>
          {unusable ? t('start.announce.https') : failureText(failure)}
        </Notice>
      )}
      {warnings.length > 0 && (
        <Notice tone="wait">{t('start.announce.warned', { codes: warnings.join(', ') })}</Notice>
      )}
      {relays.length > 0 && (
        <ul class="relays" aria-live="polite">
          {relays.map(({ url, status, lastError }) => (
            <li key={url} class="row apart">
              <span class="mono small">{url}</span>
              <Badge tone={relayTones[status]}>{t(`relay.${status}`)}</Badge>
              {lastError && <span class="soft small">{lastError}</span>}
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
