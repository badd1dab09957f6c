import { useEffect, useState } from 'preact/hooks'
import { shownPath } from '../../client/images.ts'
import type { Definition, VoucherResult } from '../../client/models.ts'
import { linkReach } from '../browser/share.ts'
import { useAttempt } from '../parts/attempt.ts'
import { Button } from '../parts/button.tsx'
import { CouponCard } from '../parts/coupon-card.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Notice } from '../parts/notice.tsx'
import { couponWords as t } from '../words/coupons.ts'
import { failureText } from '../words/signer.ts'
import { Given } from './given.tsx'
import { useGuard } from './guard.tsx'
import { ownColor } from './own-shop.ts'
import { mint, overview } from './state.ts'

type Props = { coupon: Definition; onClose: () => void }

/** Issues one voucher at once, and hands it over on the screen, as a link, as a picture or on paper. */
export function HandOver({ coupon, onClose }: Props) {
  const [vouchers, setVouchers] = useState<readonly VoucherResult[]>([])
  // Before the first redemption a merchant tries it out, on this device.
  const [trial] = useState(() => overview.value?.coupons.every((one) => one.claimed === 0))
  const { busy, failure, attempt } = useAttempt()
  const guard = useGuard(vouchers, busy, onClose)

  const issue = () =>
    void attempt(async () => {
      setVouchers([await mint(coupon.id)])
    })
  useEffect(issue, [])
  if (vouchers.length === 0) {
    return (
      <Dialog title={t('hand.title')} roomy onClose={guard.close}>
        <div class="stack">
          <CouponCard coupon={{ ...coupon, image: shownPath(coupon) }} color={ownColor()} />
          {failure !== null && <Notice tone="bad">{failureText(failure)}</Notice>}
          <Button kind="primary" wide big icon="ticket" busy={busy} onClick={issue}>
            {t(busy ? 'hand.working' : 'retry')}
          </Button>
        </div>
      </Dialog>
    )
  }
  // One is primary: where phones open no link, the picture; before the first redemption, the trial.
  const done = trial || linkReach() !== 'public' ? 'plain' : 'primary'
  return (
    <Dialog title={t('hand.title')} roomy onClose={guard.close}>
      <Given
        vouchers={vouchers}
        onGiven={guard.onGiven}
        // After the click: the browser follows the link of a page that still has it.
        onTrial={trial ? () => void setTimeout(onClose) : null}
      />
      {/* At a counter one follows another. */}
      <div class="dialog-foot">
        <Button kind="quiet" icon="plus" busy={busy} onClick={issue}>
          {t('hand.another')}
        </Button>
        <Button kind={done} big icon="check" onClick={() => busy || onClose()}>
          {t('hand.done')}
        </Button>
      </div>
      {failure !== null && <Notice tone="bad">{failureText(failure)}</Notice>}
      {guard.question}
    </Dialog>
  )
}
