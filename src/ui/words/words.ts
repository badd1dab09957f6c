import { language, locale } from '../browser/language.ts'

/** A sentence in Spanish and in English. `{name}` is filled in; of `one|many` the number `n` decides. */
type Words = Record<string, readonly [spanish: string, english: string]>

export type Fill = Record<string, string | number>

/**
 * The sentences of a part of the pages as a function: reads the language, so a component that calls it
 * follows a change. `base`: sentences of another part that can be said here, too.
 */
export function createWords<Own extends Words, Base extends string = never>(
  own: Own,
  base?: Translate<Base>,
): Translate<Extract<keyof Own, string> | Base> {
  const translate = (key: string, fill: Fill = {}): string => {
    const pair = own[key]
    if (!pair) return base ? base(key as Base, fill) : key
    const text = pair[language.value === 'es' ? 0 : 1]
    return filled(text, fill)
  }
  return translate
}

export type Translate<Key extends string> = (key: Key, fill?: Fill) => string

function filled(text: string, fill: Fill): string {
  const [one = '', many] = text.split('|')
  const chosen = many === undefined || fill.n === 1 ? one : many
  return chosen.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = fill[name]
    if (typeof value === 'number') return value.toLocaleString(locale())
    return phrases.has(name) ? (value ?? '') : isolated(value ?? '')
  })
}

/** Put together from sentences of ours: the names in them are isolated each. */
const phrases: ReadonlySet<string> = new Set(['where', 'products', 'items', 'benefit'])
const turning = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Bidi_C}]/u

/**
 * A name that strangers gave to a thing or themselves, isolated as in a `<bdi>`: written from right to left, it
 * does not turn the sentence around it. A name that could not is left alone.
 */
export function isolated(name: string): string {
  if (!turning.test(name)) return name
  // An isolate of its own that it does not close, or closes once too often, would undo this one.
  return `\u2068${name.replace(/[\u2066-\u2069]/g, '')}\u2069`
}
