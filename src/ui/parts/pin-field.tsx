import { useState } from 'preact/hooks'
import { commonWords as t } from '../words/common.ts'
import { Button } from './button.tsx'
import { Field } from './field.tsx'

type Props = {
  label: string
  value: string
  onText: (text: string) => void
  hint?: string
  error?: string | null
  'data-begin'?: true
}

/** A PIN, with the digits of a phone. It is hidden; a new one shows until the person hides it. */
export function PinField({ fresh = false, ...field }: Props & { fresh?: boolean }) {
  if (fresh) return <HiddenField {...field} digits fresh />
  return <Field {...field} type="password" inputMode="numeric" autoComplete="current-password" />
}

type HiddenProps = Props & {
  digits?: boolean
  /** New, so a password manager may offer to keep it. */
  fresh?: boolean
}

/** A secret with a button that shows it. A new one shows at once. */
export function HiddenField({ digits = false, fresh = false, ...field }: HiddenProps) {
  // It is typed once: a mistake that nobody saw would lock the key for ever.
  const [shown, setShown] = useState(fresh)
  return (
    <Field
      {...field}
      type={shown ? 'text' : 'password'}
      inputMode={digits ? 'numeric' : 'text'}
      autoComplete={fresh ? 'new-password' : 'current-password'}
      autoCapitalize="none"
      autoCorrect="off"
      spellcheck={false}
      beside={
        <Button onClick={() => setShown(!shown)}>{t(shown ? 'pin.hide' : 'pin.show')}</Button>
      }
    />
  )
}
