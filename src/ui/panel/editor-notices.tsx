import { Button } from '../parts/button.tsx'
import { Notice } from '../parts/notice.tsx'
import { couponWords as t } from '../words/coupons.ts'

/** Tells that the form shows an unsaved draft. */
export function ResumedNotice({ onDrop }: { onDrop: () => void }) {
  return (
    <Notice tone="idle">
      <div class="stack tight">
        <p>{t('edit.resumed')}</p>
        <div>
          <Button onClick={onDrop}>{t('edit.resumed.drop')}</Button>
        </div>
      </div>
    </Notice>
  )
}

type NewerProps = { onTake: () => void; onMine: () => void }

/** Asks which of two changes counts, the one made elsewhere or the draft. */
export function NewerNotice({ onTake, onMine }: NewerProps) {
  return (
    <Notice tone="wait">
      <div class="stack tight">
        <p>{t('edit.newer')}</p>
        <div class="row">
          <Button onClick={onTake}>{t('edit.newer.take')}</Button>
          <Button onClick={onMine}>{t('edit.newer.mine')}</Button>
        </div>
      </div>
    </Notice>
  )
}
