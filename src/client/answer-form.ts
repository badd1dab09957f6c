import { asObject } from '../base/json.ts'

/**
 * Whether an answer has the form of its operation, which is one of `forms`: a key that it has (`nonce`), with its words
 * (`status=OK|PENDING`), or several (`nonce&voucher`), after the only status that it comes with
 * (`202 status=PENDING`); `[]` for a list, and a status alone for an answer without a body. Any JSON will do where there is no form.
 */
export function fits(
  forms: readonly string[],
  { status, value }: { status: number; value: unknown },
): boolean {
  return forms.length === 0 || forms.some((form) => fitsOne(form, status, value))
}

function fitsOne(form: string, status: number, value: unknown): boolean {
  if (form === '[]') return Array.isArray(value)
  const parts = form.split(' ')
  if (/^\d+$/.test(form.slice(0, 3)) && parts.shift() !== String(status)) return false
  const [keys = ''] = parts
  if (keys === '') return value === null
  return keys.split('&').every((one) => {
    const [key = '', words] = one.split('=')
    const field = asObject(value)?.[key]
    return words === undefined ? field !== undefined : words.split('|').includes(String(field))
  })
}
