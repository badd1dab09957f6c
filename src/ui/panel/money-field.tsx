import type { Benefit } from '../../coupons/benefit.ts'
import { Field, Select } from '../parts/field.tsx'
import { couponWords as t } from '../words/coupons.ts'

export type Currency = NonNullable<Benefit['cap']>['currency']
const currencies: readonly Currency[] = ['ARS', 'USD', 'SAT']

type Props = {
  label: string
  hint?: string
  amount: string
  currency: Currency
  error: string | null
  onAmount: (text: string) => void
  onCurrency: (currency: Currency) => void
}

/** An amount with its currency; SAT stands for satoshis. */
export function MoneyField({ label, hint, amount, currency, error, onAmount, onCurrency }: Props) {
  return (
    <div class="money">
      <Field
        label={label}
        hint={hint}
        inputMode="decimal"
        placeholder={t('field.example', { text: '5000' })}
        value={amount}
        onText={onAmount}
        error={error}
      />
      <Select
        label={t('field.currency')}
        value={currency}
        options={currencies.map((one) => [one, t(`currency.${one}`)])}
        onChoose={onCurrency}
      />
    </div>
  )
}
