import type { Benefit } from '../../coupons/benefit.ts'
import { hrefTo } from '../browser/route.ts'
import { useAttempt } from '../parts/attempt.ts'
import { Button, ButtonLink } from '../parts/button.tsx'
import { Failure } from '../parts/failure.tsx'
import { plainBenefitText } from '../words/benefit-text.ts'
import { panelWords as t } from '../words/panel.ts'
import { createCoupon } from './state.ts'

/** Benefits that suit most shops. */
const ready = [
  ['ready.ten', { type: 'percent', percent: 10 }],
  ['ready.twenty', { type: 'percent', percent: 20 }],
  ['ready.double', { type: 'multibuy', buyQty: 2, payQty: 1 }],
] as const satisfies readonly (readonly [string, Benefit])[]

/** A first coupon in one tap. The wizard makes any other, and changes these. */
export function FirstCoupon({ onMade }: { onMade: () => void }) {
  const { busy, failure, attempt } = useAttempt()
  const create = (benefit: Benefit) =>
    void attempt(async () => {
      const name = plainBenefitText(benefit)
      const rest = { description: '', image: null, maxUses: null, expiresAt: null }
      await createCoupon({ name, benefit, ...rest })
      onMade()
    })
  return (
    <div class="stack tight">
      <div class="row ready">
        {ready.map(([words, benefit]) => (
          <Button key={words} kind="primary" busy={busy} onClick={() => create(benefit)}>
            {t(words)}
          </Button>
        ))}
        <ButtonLink kind="quiet" icon="plus" href={hrefTo('new')}>
          {t('start.create.do')}
        </ButtonLink>
      </div>
      {failure !== null && <Failure cause={failure} />}
    </div>
  )
}
