import { type Language, language } from '../browser/language.ts'

/** Thousands apart, and the places behind the point, as each language writes them. */
const groupedForm = { es: /^\d{1,3}(\.\d{3})+(,\d+)?$/, en: /^\d{1,3}(,\d{3})+(\.\d+)?$/ }

/** The number in what a person typed, with the separators of a language; NaN where there is none. */
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
  // Whoever writes 12.5 with a Spanish page, or 12,5 with an English one, means just that.
  return /^\d+([.,]\d+)?$/.test(trimmed) ? Number(trimmed.replace(',', '.')) : Number.NaN
}

/** A number as it is typed: without groups. */
export function typed(value: number): string {
  const text = String(value)
  return language.value === 'es' ? text.replace('.', ',') : text
}
