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
  /** A new PIN, which a password manager may offer to keep. */
  fresh?: boolean
  'data-begin'?: true
}

/** A PIN, with the digits of a phone. It is hidden; a new one shows until the person hides it. */
export function PinField({ fresh = false, ...field }: Props) {
  // It is typed once: a mistake that nobody saw would lock the key for ever.
  const [shown, setShown] = useState(fresh)
  return (
    <Field
      {...field}
      type={shown ? 'text' : 'password'}
      inputMode="numeric"
      autoComplete={fresh ? 'new-password' : 'current-password'}
      {...(fresh && {
        beside: (
          <Button onClick={() => setShown(!shown)}>{t(shown ? 'pin.hide' : 'pin.show')}</Button>
        ),
      })}
    />
  )
}
