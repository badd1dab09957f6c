import { useState } from 'preact/hooks'
import { shownPath } from '../../client/images.ts'
import type { Definition } from '../../client/models.ts'
import { typedGroups } from '../../client/typed-code.ts'
import { couponLink } from '../browser/share.ts'
import type { Handed } from '../hand/message.ts'
import { useAttempt } from '../parts/attempt.ts'
import { Button } from '../parts/button.tsx'
import { CouponCard } from '../parts/coupon-card.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Notice } from '../parts/notice.tsx'
import { batchWords as t } from '../words/batches.ts'
import { failureText } from '../words/signer.ts'
import { emptyBatch, forgetBatchDraft, keepBatchDraft } from './batch-draft.ts'
import { type AskedBatch, BatchForm } from './batch-form.tsx'
import { Given } from './given.tsx'
import { useGuard } from './guard.tsx'
import { ownColor } from './own-shop.ts'
import { recipientLines } from './recipient-list.ts'
import { saveCsv } from './save-csv.ts'
import { mintTogether } from './state.ts'

type Props = { coupon: Definition; onClose: () => void }

/** Issues a batch of vouchers, with a recipient each where they are named, and hands them over. */
export function HandMany({ coupon, onClose }: Props) {
  const [vouchers, setVouchers] = useState<readonly Handed[]>([])
  const [rest, setRest] = useState<string | null>(null)
  const { busy, failure, attempt } = useAttempt()
  const guard = useGuard(vouchers, busy, onClose)
  const issue = ({ name, count, recipients }: AskedBatch) =>
    void attempt(async () => {
      const labels = recipients.map((one) => one.name)
      const asked = { couponId: coupon.id, name }
      const issued = await mintTogether(
        labels.length > 0 ? { ...asked, labels } : { ...asked, count },
      )
      const handed = issued.vouchers.map((voucher, at): Handed => {
        const recipient = recipients[at]
        return { ...voucher, ...(recipient && { recipient }) }
      })
      setVouchers(handed)
      forgetBatchDraft()
      if (issued.failure === null) return
      const [n, all] = [handed.length, recipients.length]
      const list = recipientLines(recipients.slice(n))
      keepBatchDraft(coupon.id, { ...emptyBatch, name, list })
      const first = t('many.rest', { n, all, name: recipients[n]?.name ?? '' })
      setRest(`${failureText(issued.failure)} ${first}`)
    })
  if (vouchers.length === 0) {
    return (
      <Dialog title={t('many.title')} onClose={guard.close}>
        <div class="stack">
          <CouponCard coupon={{ ...coupon, image: shownPath(coupon) }} color={ownColor()} />
          <BatchForm couponId={coupon.id} busy={busy} failure={failure} onIssue={issue} />
        </div>
      </Dialog>
    )
  }
  return (
    <Dialog title={t('hand.many.title', { n: vouchers.length })} roomy onClose={guard.close}>
      {rest !== null && <Notice tone="bad">{rest}</Notice>}
      <Given vouchers={vouchers} onGiven={guard.onGiven} onTrial={null}>
        <Button
          icon="download"
          onClick={() => {
            saveCsv(t('sheet.file'), handedTable(vouchers))
            guard.onGiven(vouchers)
          }}
        >
          {t('sheet.do')}
        </Button>
        <p class="soft small">{t('sheet.why')}</p>
      </Given>
      {guard.question}
    </Dialog>
  )
}

/** The vouchers as a table, with their codes. */
function handedTable(vouchers: readonly Handed[]): string[][] {
  return [
    [t('sheet.recipient'), t('sheet.link'), t('sheet.code')],
    ...vouchers.map(({ nonce, recipient }) => [
      recipient?.name ?? '',
      couponLink(nonce),
      typedGroups(nonce)?.join(' ') ?? '',
    ]),
  ]
}
