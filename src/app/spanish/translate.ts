import type { ApiDocument } from '../../http/openapi.ts'
import { cardSentences } from './cards.ts'
import { couponSentences } from './coupons.ts'
import { fieldSentences } from './fields.ts'
import { merchantSentences } from './merchants.ts'
import { nostrSentences } from './nostr.ts'
import { serviceSentences } from './service.ts'
import { titles } from './titles.ts'

/** The Spanish of every sentence of the document, by its English. */
export const sentences: ReadonlyMap<string, string> = new Map([
  ...Object.entries(titles),
  ...Object.entries(couponSentences),
  ...Object.entries(merchantSentences),
  ...Object.entries(cardSentences),
  ...Object.entries(nostrSentences),
  ...Object.entries(serviceSentences),
  ...Object.entries(fieldSentences),
])

/** The same document with its sentences in Spanish. A code has only its sentence on the wire, which is Spanish. */
export function inSpanish(document: ApiDocument): ApiDocument {
  const translated = translate(document) as ApiDocument
  for (const tag of translated.tags) tag['x-displayName'] = inWords(tag.name)
  for (const code of Object.values(translated['x-codes'])) delete code.meaning
  return translated
}

/** Line by line: a paragraph, or an entry of a list. A sentence that is in no table stays. */
function inWords(text: string): string {
  return text
    .split('\n')
    .map((line) => sentences.get(line) ?? line)
    .join('\n')
}

const worded: ReadonlySet<string> = new Set(['summary', 'description'])
/** Values, which are not sentences of ours. */
const kept: ReadonlySet<string> = new Set(['example', 'value', 'default'])

function translate(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(translate)
  if (typeof part !== 'object' || part === null) return part
  const entries = Object.entries(part).map(([key, value]) => {
    if (kept.has(key)) return [key, value]
    return [key, worded.has(key) && typeof value === 'string' ? inWords(value) : translate(value)]
  })
  return Object.fromEntries(entries)
}
