import { useState } from 'preact/hooks'
import type { VoucherResult } from '../../client/models.ts'
import { Confirm } from '../parts/dialog.tsx'
import { useStaying } from '../parts/staying.ts'
import { couponWords as t } from '../words/coupons.ts'

type Coded = Pick<VoucherResult, 'nonce'>

/**
 * Codes that nobody has yet cannot be shown again: leaving them asks first, by Escape, Back or a reload. While
 * `busy`, codes are on their way: the page stays, or they would be issued and never seen.
 */
export function useGuard(vouchers: readonly Coded[], busy: boolean, onClose: () => void) {
  const [given, setGiven] = useState<ReadonlySet<string>>(new Set())
  const [leaving, setLeaving] = useState(false)
  const waiting = vouchers.filter(({ nonce }) => !given.has(nonce)).length
  const close = () => {
    if (busy) return
    if (waiting > 0) setLeaving(true)
    else onClose()
  }
  useStaying(busy || waiting > 0, close)
  return {
    /** Some were handed over, as far as a page can know. */
    onGiven: (some: readonly Coded[]) =>
      setGiven((before) => new Set([...before, ...some.map(({ nonce }) => nonce)])),
    close,
    /** Null while nobody wants to leave. */
    question: leaving && (
      <Confirm
        title={t('hand.leave')}
        action={t('hand.leave.do')}
        danger
        onClose={() => setLeaving(false)}
        onConfirm={async () => onClose()}
      >
        <p>{t('hand.leave.why', { n: waiting })}</p>
      </Confirm>
    ),
  }
}
