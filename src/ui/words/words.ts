import { locale, spoken } from '../browser/language.ts'

/** Sentences in Spanish and English. `{name}` is a placeholder; in `one|many` the number `n` decides. */
type Words = Record<string, readonly [spanish: string, english: string]>

export type Fill = Record<string, string | number>

/**
 * A function that gives the sentences of one part of the pages. It reads the language signal, so a component
 * that calls it is rendered again after a change. `base`: the sentences of another part, included here.
 */
export function createWords<Own extends Words, Base extends string = never>(
  own: Own,
  base?: Translate<Base>,
): Translate<Extract<keyof Own, string> | Base> {
  const translate = (key: string, fill: Fill = {}): string => {
    const pair = own[key]
    if (!pair) return base ? base(key as Base, fill) : key
    const text = pair[spoken() === 'es' ? 0 : 1]
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
    if (typeof value === 'number') return numberText(value)
    return phrases.has(name) ? (value ?? '') : isolated(value ?? '')
  })
}

/** A number in the form of the language. The first one that needs the formatter costs a slow phone 60 ms. */
function numberText(value: number): string {
  const plain = Number.isInteger(value) && value >= 0 && value < 1000
  return plain ? String(value) : value.toLocaleString(locale())
}

/** Placeholders whose value is built from our own sentences: the names inside are isolated already. */
const phrases: ReadonlySet<string> = new Set(['where', 'products', 'items', 'benefit', 'titles'])
const turning = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Bidi_C}]/u

/**
 * A name from a stranger in a bidi isolate, like `<bdi>`: text from right to left in it does not reorder the
 * sentence around it. A name without such characters stays as it is.
 */
export function isolated(name: string): string {
  if (!turning.test(name)) return name
  // An unbalanced isolate inside the name would end or swallow this one.
  return `\u2068${name.replace(/[\u2066-\u2069]/g, '')}\u2069`
}
