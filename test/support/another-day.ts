/** Requests of the documentation, as they are sent again: with the values of another day, other keys and other codes. */
import type { NostrEvent, Signer } from '../../src/nostr/event.ts'
import type { Json } from './client.ts'
import { createEvent } from './events.ts'

/** Values that a service, a key, a card, a clock or a person makes anew, each by the word that stands for it. */
const forms: [word: string, form: RegExp][] = [
  ['signature', /\b[0-9a-f]{128}\b/g],
  ['hex key', /\b[0-9a-f]{64}\b/g],
  ['npub', /\bnpub1[a-z0-9]{58}\b/g],
  ['id', /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g],
  ['nonce', /^[\w-]{22}$/g],
  ['code', /^[0-9A-Z]{4}(?:-[0-9A-Z]{4}){2}$/g],
  ['passphrase', /^(?:[a-z]+ ){7}[a-z]+$/g],
  ['p', /^[0-9a-f]{32}$/gi],
  ['c', /^[0-9a-f]{16}$/gi],
  ['event', /\bnevent1[a-z0-9]+/g],
  ['uid', /^04[0-9a-f]{12}$/g],
  ['ticket', /^[\w-]{32}$/g],
  ['invoice', /^lnbc.*$/g],
  // NIP-44; a page may cut it.
  ['encrypted', /^A[g-v][\w+/]*(?:…|[\w+/]{98}=*)$/g],
  ['session', /^ey[\w-]+(?:…|\.[\w-]+\.[\w-]+)$/g],
  ['address', /^[\w.-]+@[\w.:-]+$/g],
  ['day', /\b20\d\d-\d\d-\d\d\b/g],
  ['date', /\b\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT\b/g],
  ['origin', /\b(?:https?|wss?):\/\/[\w.-]+(?::\d+)?/g],
  ['credentials', /(?<=^(?:Bearer|Nostr) ).*$/g],
]

/** Keys of an object whose value is another one each time. */
const opaque = new Set(['next', 'Idempotency-Key'])

/** The same for every day: keys in order, and words in place of the values above. An event has no hash of its own. */
export function withoutDay(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDay)
  if (typeof value === 'number') return value > 1_700_000_000 && value < 2 ** 31 ? '<time>' : value
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).map(([name, one]) => {
      const other = opaque.has(name) && typeof one === 'string'
      return [String(withoutDay(name)), other ? `<${name}>` : withoutDay(one)] as const
    })
    return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)))
  }
  if (typeof value !== 'string') return value
  // The content of an event.
  const object = objectIn(value)
  if (object !== null) return withoutDay(object)
  return forms
    .reduce((text, [word, form]) => text.replace(form, `<${word}>`), value)
    .replace(/\b1[7-9]\d{8}\b/g, '<time>')
}

/** The object of a JSON text, or null. */
export function objectIn(text: string): object | null {
  if (!text.startsWith('{')) return null
  try {
    return JSON.parse(text)
  } catch (cause) {
    if (cause instanceof SyntaxError) return null
    throw cause
  }
}

/** True where `printed` was sent or answered, but for those values. */
export function saysSame(printed: unknown, real: unknown): boolean {
  return JSON.stringify(withoutDay(printed)) === JSON.stringify(withoutDay(real))
}

/** The event of an example, in which these tags have values of today. */
export function withTags(event: Json, values: Readonly<Record<string, string>>) {
  const replaced = event.tags.map(([name = '', ...rest]: string[]) => {
    const value = values[name]
    return value === undefined ? [name, ...rest] : [name, value]
  })
  return { ...event, tags: replaced }
}

/** The same, signed now by `signer`. These fields of its content have values of today as well. */
export function signAnew(
  example: Json,
  signer: Signer,
  { tags = {}, content = {} }: { tags?: Record<string, string>; content?: Json } = {},
): NostrEvent {
  const { kind, tags: named, content: text } = withTags(example, tags)
  const fields = { ...(text === '' ? {} : JSON.parse(text)), ...content }
  return createEvent({ kind, tags: named, content: text && JSON.stringify(fields), signer })
}
