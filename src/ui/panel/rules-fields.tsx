import { useId } from 'preact/hooks'
import { clientLimits } from '../../base/limits-client.ts'
import { Button, IconButton } from '../parts/button.tsx'
import { Field, TextArea } from '../parts/field.tsx'
import { Fold } from '../parts/fold.tsx'
import { Icon } from '../parts/icon.tsx'
import { couponWords as t } from '../words/coupons.ts'
import { weekday, zoneText } from '../words/rules-text.ts'
import type { Wrongs } from './draft-check.ts'
import { MoneyField } from './money-field.tsx'
import { emptyRules, newWindow, type RulesDraft, type WindowDraft } from './rules-draft.ts'

const weekdays = [1, 2, 3, 4, 5, 6, 7] as const

type Props = {
  rules: RulesDraft
  wrongs: Wrongs
  onChange: (rules: RulesDraft) => void
}

/** The rules that the service enforces: start, hours, minimum purchase, and a text. Folded while there are none. */
export function RulesFields({ rules, wrongs, onChange }: Props) {
  const wrong = (path: string) => {
    const key = wrongs[`rules.${path}`]
    return key ? t(key) : null
  }
  const change = (changes: Partial<RulesDraft>) => onChange({ ...rules, ...changes })
  return (
    <Fold
      summary={t('rules')}
      open={rules !== emptyRules && hasSome(rules)}
      wrong={Object.keys(wrongs).some((path) => path.startsWith('rules.'))}
    >
      <div class="stack">
        <p class="hint">{t('rules.hint')}</p>
        <Field
          label={t('rules.starts')}
          hint={t('rules.starts.hint')}
          type="date"
          value={rules.starts}
          onText={(starts) => change({ starts })}
          error={wrong('startsAt')}
        />
        <Windows rules={rules} wrong={wrong} onChange={change} />
        <MoneyField
          label={t('rules.minimum')}
          hint={t('rules.minimum.hint')}
          amount={rules.minimum}
          currency={rules.currency}
          error={wrong('minimum.amount')}
          onAmount={(minimum) => change({ minimum })}
          onCurrency={(currency) => change({ currency })}
        />
        <TextArea
          label={t('rules.conditions')}
          hint={t('rules.conditions.hint')}
          maxLength={clientLimits.conditionsCharsMax}
          value={rules.conditions}
          onText={(conditions) => change({ conditions })}
          error={wrong('conditions')}
        />
      </div>
    </Fold>
  )
}

function hasSome({ starts, windows, minimum, conditions }: RulesDraft): boolean {
  return starts !== '' || windows.length > 0 || minimum !== '' || conditions !== ''
}

type WindowsProps = {
  rules: RulesDraft
  wrong: (path: string) => string | null
  onChange: (changes: Partial<RulesDraft>) => void
}

/** The weekdays and hours. Those of a new coupon are read on the clock of this device. */
function Windows({ rules: { windows, timeZone }, wrong, onChange }: WindowsProps) {
  const put = (at: number, changes: Partial<WindowDraft>) =>
    onChange({
      windows: windows.map((one, index) => (index === at ? { ...one, ...changes } : one)),
    })
  const drop = (at: number) => onChange({ windows: windows.filter((_, index) => index !== at) })
  const add = () => {
    const zone = windows.length === 0 ? emptyRules.timeZone : timeZone
    onChange({ windows: [...windows, newWindow], timeZone: zone })
  }
  return (
    <div class="stack">
      {windows.map((window, at) => (
        // Keyed by position: windows have no identity, and two may be equal.
        <WindowFields
          key={at}
          number={at + 1}
          window={window}
          wrongDays={wrong(`times.windows.${at}.days`)}
          wrongFrom={wrong(`times.windows.${at}.from`)}
          wrongTo={wrong(`times.windows.${at}.to`)}
          onChange={(changes) => put(at, changes)}
          onRemove={() => drop(at)}
        />
      ))}
      {windows.length < clientLimits.ruleWindowsMax && (
        <div>
          <Button kind="quiet" icon="plus" onClick={add}>
            {t(windows.length === 0 ? 'rules.window.first' : 'rules.window.add')}
          </Button>
        </div>
      )}
      {windows.length > 0 && <p class="hint">{t('rules.zone', { zone: zoneText(timeZone) })}</p>}
    </div>
  )
}

type WindowProps = {
  number: number
  window: WindowDraft
  wrongDays: string | null
  wrongFrom: string | null
  wrongTo: string | null
  onChange: (changes: Partial<WindowDraft>) => void
  onRemove: () => void
}

function WindowFields(props: WindowProps) {
  const { number, window, wrongDays, wrongFrom, wrongTo, onChange, onRemove } = props
  const error = useId()
  const { days, from, to } = window
  const toggle = (day: number) => {
    const others = days.filter((one) => one !== day)
    onChange({ days: others.length < days.length ? others : [...days, day].toSorted() })
  }
  return (
    <fieldset class="rule-window stack">
      <legend class="unseen">{t('rules.window', { n: number })}</legend>
      <div class="row apart">
        <div class="chips">
          {weekdays.map((day) => (
            <label key={day} class="chip">
              <input
                type="checkbox"
                aria-label={weekday(day)}
                aria-invalid={wrongDays !== null}
                aria-describedby={wrongDays === null ? undefined : error}
                checked={days.includes(day)}
                onChange={() => toggle(day)}
              />
              <span aria-hidden="true">{weekday(day, 'short')}</span>
            </label>
          ))}
        </div>
        <IconButton
          icon="trash"
          label={t('rules.window.remove', { n: number })}
          onClick={onRemove}
        />
      </div>
      {wrongDays && (
        <p class="wrong" id={error} role="alert">
          <Icon name="warning" size={18} />
          {wrongDays}
        </p>
      )}
      <div class="pair">
        <Field
          label={t('rules.window.from')}
          type="time"
          value={from}
          onText={(text) => onChange({ from: text })}
          error={wrongFrom}
        />
        <Field
          label={t('rules.window.to')}
          type="time"
          value={to}
          onText={(text) => onChange({ to: text })}
          error={wrongTo}
        />
      </div>
      <p class="hint">{t('rules.window.hint')}</p>
    </fieldset>
  )
}
