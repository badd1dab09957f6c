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

/** A PIN: hidden, with the digits of a phone. */
export function PinField({ fresh = false, ...field }: Props) {
  return (
    <Field
      {...field}
      type="password"
      inputMode="numeric"
      autoComplete={fresh ? 'new-password' : 'current-password'}
    />
  )
}
