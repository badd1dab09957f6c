import { useState } from 'preact/hooks'
import { systemClock } from '../../base/clock.ts'
import { Confirm } from '../parts/dialog.tsx'
import { say } from '../parts/toast.tsx'
import { couponWords as t } from '../words/coupon.ts'
import { type Held, statusNow } from './holdings.ts'
import { remove } from './state.ts'

/** The removal of a coupon from this device. One that can still be used is removed after a question only. */
export function useRemoval(held: Held) {
  const [asking, setAsking] = useState(false)
  const removeNow = () => {
    remove(held.nonce)
    say(t('mine.removed'))
  }
  const status = statusNow(held, systemClock())
  const alone = held.own && held.sent === null
  const why = alone ? 'mine.remove.only' : 'mine.remove.sure'
  return {
    begin() {
      if (held.status === 'minted') setAsking(true)
      else removeNow()
    },
    question: asking && (
      <Confirm
        title={t('mine.remove')}
        action={t('mine.remove.yes')}
        danger
        onClose={() => setAsking(false)}
        onConfirm={async () => removeNow()}
      >
        <p>{t(status === 'overdue' ? 'mine.remove.overdue' : why)}</p>
      </Confirm>
    ),
  }
}
