import { useEffect, useState } from 'preact/hooks'
import { limits } from '../../base/limits.ts'
import { shownPath } from '../../client/images.ts'
import type { Definition, VoucherResult } from '../../client/models.ts'
import { useAttempt } from '../parts/attempt.ts'
import { Button } from '../parts/button.tsx'
import { CouponCard } from '../parts/coupon-card.tsx'
import { Confirm, Dialog } from '../parts/dialog.tsx'
import { Field } from '../parts/field.tsx'
import { Notice } from '../parts/notice.tsx'
import { useStaying } from '../parts/staying.ts'
import { couponWords as t } from '../words/coupons.ts'
import { failureText } from '../words/signer.ts'
import { Given } from './given.tsx'
import { ownColor } from './own-shop.ts'
import { mint, overview } from './state.ts'

type Props = {
  coupon: Definition
  /** Asks for a number first. One is issued at once. */
  many: boolean
  onClose: () => void
}

/** Issues vouchers, and hands them over on the screen, as links, as a picture or on paper. */
export function HandOver({ coupon, many, onClose }: Props) {
  const [vouchers, setVouchers] = useState<readonly VoucherResult[]>([])
  const [count, setCount] = useState(many ? '10' : '1')
  const [wrong, setWrong] = useState(false)
  const [leaving, setLeaving] = useState(false)
  const [given, setGiven] = useState<ReadonlySet<string>>(new Set())
  // Before the first redemption a merchant tries it out, on this device.
  const [trial] = useState(() => !many && overview.value?.coupons.every((one) => one.claimed === 0))
  const { busy, failure, attempt } = useAttempt()

  const issue = () => {
    const wanted = Number(count)
    // Checked here as well, since the field takes any text.
    const sensible = Number.isInteger(wanted) && wanted >= 1 && wanted <= limits.mintCountMax
    setWrong(!sensible)
    if (sensible) {
      void attempt(async () => {
        setVouchers(await mint(coupon.id, wanted))
      })
    }
  }
  useEffect(() => {
    if (!many) issue()
  }, [])
  // Nobody has these codes yet, and the page cannot show them again: leaving asks first.
  const waiting = vouchers.filter(({ nonce }) => !given.has(nonce)).length
  useStaying(waiting > 0, () => setLeaving(true))
  const close = () => {
    if (waiting > 0) setLeaving(true)
    // A code on its way would be issued and never seen.
    else if (!busy) onClose()
  }
  if (vouchers.length === 0) {
    return (
      <Dialog title={many ? t('many.title') : t('hand.title')} roomy={!many} onClose={close}>
        <form
          class="stack"
          onSubmit={(event) => {
            event.preventDefault()
            issue()
          }}
        >
          <CouponCard coupon={{ ...coupon, image: shownPath(coupon) }} color={ownColor()} />
          {many && (
            <Field
              data-begin
              label={t('many.count')}
              hint={t('many.hint')}
              inputMode="numeric"
              value={count}
              onText={setCount}
              error={wrong ? t('many.wrong') : null}
            />
          )}
          {failure !== null && <Notice tone="bad">{failureText(failure)}</Notice>}
          <Button kind="primary" wide big type="submit" icon="ticket" busy={busy}>
            {many ? t('many.do') : t(busy ? 'hand.working' : 'retry')}
          </Button>
        </form>
      </Dialog>
    )
  }
  const several = vouchers.length > 1
  const title = several ? t('hand.many.title', { n: vouchers.length }) : t('hand.title')
  return (
    <Dialog title={title} roomy onClose={close}>
      <Given
        vouchers={vouchers}
        onGiven={(some) => setGiven(new Set([...given, ...some.map(({ nonce }) => nonce)]))}
        // After the click: the browser follows the link of a page that still has it.
        onTrial={trial ? () => void setTimeout(onClose) : null}
      />
      {/* At a counter one follows another; a batch is printed once. */}
      {!several && (
        <div class="dialog-foot">
          <Button kind="quiet" icon="plus" busy={busy} onClick={issue}>
            {t('hand.another')}
          </Button>
          <Button kind="primary" big icon="check" onClick={() => busy || onClose()}>
            {t('hand.done')}
          </Button>
        </div>
      )}
      {failure !== null && <Notice tone="bad">{failureText(failure)}</Notice>}
      {leaving && (
        <Confirm
          title={t('hand.leave')}
          action={t('hand.leave.do')}
          danger
          onClose={() => setLeaving(false)}
          onConfirm={async () => onClose()}
        >
          <p>{t('hand.leave.why', { n: waiting })}</p>
        </Confirm>
      )}
    </Dialog>
  )
}
