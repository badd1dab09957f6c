import { type Language, language } from '../browser/language.ts'

/** Amounts with thousands separators, as each language writes them. */
const groupedForm = { es: /^\d{1,3}(\.\d{3})+(,\d+)?$/, en: /^\d{1,3}(,\d{3})+(\.\d+)?$/ }

/** The number in a typed text, with the separators of a language; NaN where there is none. */
export function parseAmount(text: string, spoken: Language = language.value): number {
  const [group, point] = spoken === 'es' ? ['.', ','] : [',', '.']
  const trimmed = text
    .trim()
    .replace(/^(\$|US\$|AR\$)\s*/i, '')
    .replace(/%$/, '')
    .trimEnd()
  if (groupedForm[spoken].test(trimmed)) {
    return Number(trimmed.replaceAll(group, '').replace(point, '.'))
  }
  // Either separator marks decimals where no group fits: people type 12.5 into a Spanish page, too.
  return /^\d+([.,]\d+)?$/.test(trimmed) ? Number(trimmed.replace(',', '.')) : Number.NaN
}

/** A number as people type it, without groups. */
export function typed(value: number): string {
  const text = String(value)
  return language.value === 'es' ? text.replace('.', ',') : text
}
