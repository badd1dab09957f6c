import { useState } from 'preact/hooks'
import { Refusal } from '../../base/refusal.ts'
import type { ShownRules } from '../../client/voucher-rules.ts'
import type { VoucherTerms } from '../../client/voucher-terms.ts'
import type { Money } from '../../coupons/money.ts'
import { parsePurchase } from '../../coupons/rules.ts'
import { Field } from '../parts/field.tsx'
import { Notice } from '../parts/notice.tsx'
import { parseAmount } from '../words/amount.ts'
import { notNowText, rulesLines } from '../words/rules-text.ts'
import { smallText, tillWords as t } from '../words/till.ts'
import { RestingButton } from './resting.tsx'
import { redeem } from './state.ts'

/** The rules of a coupon in words. */
export function RuleLines({ rules }: { rules: ShownRules | undefined }) {
  return rulesLines(rules).map((line) => (
    <p key={line} class="pre">
      {line}
    </p>
  ))
}

/** The button that redeems, and before it the questions of the rules. The service decides: a clock here may be wrong. */
export function RedeemWithin({ terms: { rules, expiresAt } }: { terms: VoucherTerms }) {
  const [amount, setAmount] = useState('')
  const [wrong, setWrong] = useState<string | null>(null)
  const minimum = rules?.minimum
  const notNow = notNowText({ rules, expiresAt })
  const send = () => {
    if (!minimum || amount.trim() === '') return redeem()
    const purchase = purchaseOf(amount, minimum.currency)
    if (!purchase) setWrong(t('purchase.wrong'))
    else if (purchase.amount < minimum.amount) setWrong(smallText(minimum))
    else redeem(purchase)
  }
  return (
    <>
      {notNow !== null && (
        <Notice tone="wait" icon="clock">
          <strong>{t('done.later')}</strong>
          <p>{notNow}</p>
        </Notice>
      )}
      {minimum && (
        <Field
          label={t('purchase.amount')}
          hint={t('purchase.hint')}
          inputMode="decimal"
          autoComplete="off"
          value={amount}
          onText={(text) => {
            setAmount(text)
            setWrong(null)
          }}
          error={wrong}
        />
      )}
      <RestingButton kind="primary" wide class="huge" icon="check" onClick={send}>
        {t('shown.redeem')}
      </RestingButton>
    </>
  )
}

/** A typed purchase, by the rules of the service. Null if it is none. */
function purchaseOf(amount: string, currency: Money['currency']): Money | null {
  try {
    return parsePurchase({ amount: parseAmount(amount), currency })
  } catch (cause) {
    if (cause instanceof Refusal) return null
    throw cause
  }
}
