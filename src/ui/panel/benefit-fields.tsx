import { limits } from '../../base/limits.ts'
import { Button, IconButton } from '../parts/button.tsx'
import { Check, Field, Select } from '../parts/field.tsx'
import { couponWords as t } from '../words/coupons.ts'
import type { Currency, Draft } from './draft.ts'
import type { Wrongs } from './draft-check.ts'

type Props = {
  draft: Draft
  wrongs: Wrongs
  onChange: (changes: Partial<Draft>) => void
}

const currencies: readonly Currency[] = ['ARS', 'USD', 'SAT']

/** What each type of benefit wants to know. */
export function BenefitFields({ draft, wrongs, onChange }: Props) {
  const wrong = (field: string) => {
    const key = wrongs[field]
    return key ? t(key) : null
  }
  return (
    <div class="stack">
      {draft.type === 'percent' && (
        <Field
          label={t('field.percent')}
          inputMode="decimal"
          placeholder="25"
          value={draft.percent}
          onText={(percent) => onChange({ percent })}
          error={wrong('percent')}
          beside={<span class="unit">%</span>}
        />
      )}
      {draft.type === 'fixed' && (
        <Money
          label={t('field.amount')}
          amount={draft.amount}
          currency={draft.currency}
          error={wrong('amount')}
          onAmount={(amount) => onChange({ amount })}
          onCurrency={(currency) => onChange({ currency })}
        />
      )}
      {draft.type === 'multibuy' && (
        <div class="pair">
          <Field
            label={t('field.buy')}
            inputMode="numeric"
            value={draft.buyQty}
            onText={(buyQty) => onChange({ buyQty })}
            error={wrong('buyQty')}
          />
          <Field
            label={t('field.pay')}
            inputMode="numeric"
            value={draft.payQty}
            onText={(payQty) => onChange({ payQty })}
            error={wrong('payQty')}
          />
        </div>
      )}
      {draft.type === 'buyXgetY' && (
        <>
          <Field
            label={t('field.bought')}
            value={draft.bought}
            onText={(bought) => onChange({ bought })}
            error={wrong('buyProductD')}
          />
          <Field
            label={t('field.gift')}
            value={draft.gift}
            onText={(gift) => onChange({ gift })}
            error={wrong('giftProductD')}
          />
        </>
      )}
      {draft.type === 'freeItems' && <Items draft={draft} wrong={wrong} onChange={onChange} />}
      {draft.type !== 'buyXgetY' && draft.type !== 'freeItems' && (
        <Field
          label={t('field.products')}
          hint={t('field.products.hint')}
          placeholder={t('field.products.example')}
          value={draft.products}
          onText={(products) => onChange({ products })}
          error={wrong(
            Object.keys(wrongs).find((field) => field.startsWith('productDs')) ?? 'productDs',
          )}
        />
      )}
      {draft.type !== 'fixed' && (
        <>
          <Check
            label={t('field.cap')}
            checked={draft.capped}
            onChange={(capped) => onChange({ capped })}
          />
          {draft.capped && (
            <Money
              label={t('field.cap.amount')}
              amount={draft.capAmount}
              currency={draft.capCurrency}
              error={wrong('cap.amount')}
              onAmount={(capAmount) => onChange({ capAmount })}
              onCurrency={(capCurrency) => onChange({ capCurrency })}
            />
          )}
        </>
      )}
    </div>
  )
}

type MoneyProps = {
  label: string
  amount: string
  currency: Currency
  error: string | null
  onAmount: (text: string) => void
  onCurrency: (currency: Currency) => void
}

function Money({ label, amount, currency, error, onAmount, onCurrency }: MoneyProps) {
  return (
    <div class="money">
      <Field
        label={label}
        inputMode="decimal"
        placeholder="5000"
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

type ItemsProps = Pick<Props, 'draft' | 'onChange'> & { wrong: (field: string) => string | null }

function Items({ draft: { items }, wrong, onChange }: ItemsProps) {
  const change = (at: number, changes: Partial<(typeof items)[number]>) =>
    onChange({ items: items.map((one, index) => (index === at ? { ...one, ...changes } : one)) })
  return (
    <div class="stack">
      {items.map((item, at) => (
        <div key={at} class="item">
          <Field
            label={t('field.item')}
            value={item.d}
            onText={(d) => change(at, { d })}
            error={wrong(`items.${at}.d`) ?? (at === items.length - 1 ? wrong('items') : null)}
          />
          <Field
            label={t('field.qty')}
            inputMode="numeric"
            value={item.qty}
            onText={(qty) => change(at, { qty })}
            error={wrong(`items.${at}.qty`)}
          />
          {items.length > 1 && (
            <IconButton
              icon="trash"
              label={t('field.item.remove', { item: item.d })}
              onClick={() => onChange({ items: items.filter((_, index) => index !== at) })}
            />
          )}
        </div>
      ))}
      {items.length < limits.itemsMax && (
        <div>
          <Button
            kind="quiet"
            icon="plus"
            onClick={() => onChange({ items: [...items, { d: '', qty: '1' }] })}
          >
            {t('field.item.add')}
          </Button>
        </div>
      )}
    </div>
  )
}
