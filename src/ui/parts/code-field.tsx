import { groupTyped, slipOf, type TypedSlip } from '../../client/typed-code.ts'
import { commonWords as t } from '../words/common.ts'
import { list } from '../words/format.ts'
import { Field } from './field.tsx'

type Props = Pick<
  Parameters<typeof Field>[0],
  'label' | 'hint' | 'error' | 'value' | 'onText' | 'beside'
>

/** The field for the code of a coupon: it groups what is typed, and tells a slip as soon as it can be known. */
export function CodeField({ error, value, ...field }: Props) {
  const slip = slipOf(value, false)
  return (
    <div class="code-field">
      <Field
        {...field}
        value={value}
        error={error ?? (slip && slipText(slip, value))}
        reshape={groupTyped}
        autoComplete="off"
        autoCapitalize="none"
        spellcheck={false}
      />
    </div>
  )
}

/** The sentence about a finished text that is no code; null where another sentence fits better. */
export function slipIn(text: string): string | null {
  const slip = slipOf(text, true)
  return slip && slipText(slip, text)
}

function slipText({ wrong, groups, count }: TypedSlip, text: string): string {
  const shown = text.toUpperCase()
  const typed =
    wrong === 'sign' || wrong === 'sum'
      ? groupTyped(shown.replace(/[\s-]/g, '')).split(' ')
      : shown.split(/[\s-]+/).filter(Boolean)
  // A small screen does not show the whole code, so the sentence repeats the group.
  const where = list(groups.map((at) => `${at} («${typed[at - 1] ?? ''}»)`))
  if (wrong === 'sign') return t('typed.sign', { where })
  if (wrong === 'sum') {
    return groups.length === 0 ? t('typed.sum') : t('typed.sum.at', { where, n: groups.length })
  }
  return groups.length === 0 ? t(`typed.${wrong}`, { n: count }) : t('typed.length', { where })
}
