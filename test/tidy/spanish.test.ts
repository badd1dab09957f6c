/** The Spanish of the API document (src/app/spanish): as many sentences as its English has. */
import { afterAll, expect, test } from 'bun:test'
import { sentences } from '../../src/app/spanish/translate.ts'
import { refusalCodes } from '../../src/base/refusal.ts'
import type { ApiDocument } from '../../src/http/openapi.ts'
import { call } from '../support/client.ts'
import { cleanUp, startServer } from '../support/server.ts'

afterAll(cleanUp)

const { url } = await startServer()
const english: ApiDocument = (await call(url, '/openapi.json')).json
const spanish: ApiDocument = (await call(url, '/openapi.json?lang=es')).json

test('every sentence of the document has its Spanish, and the tables have no other', () => {
  const wanted = new Set(sentencesOf(english))
  expect(wanted.size).toBeGreaterThan(400)
  // A sentence that was changed here needs its Spanish anew.
  expect([...wanted].filter((sentence) => !sentences.has(sentence))).toEqual([])
  expect([...sentences.keys()].filter((sentence) => !wanted.has(sentence))).toEqual([])
})

test('the Spanish document differs in words only', () => {
  expect(Object.keys(spanish.paths)).toEqual(Object.keys(english.paths))
  const claim = ({ paths }: ApiDocument) => paths['/api/coupons/claim']?.post
  expect(claim(spanish)?.summary).toBe('Canjear un cupón')
  expect(withoutWords(spanish)).toEqual(withoutWords(english))
})

test('names in code are the same in both languages', () => {
  const wrong = [...sentences].filter(([from, to]) => {
    const names = (text: string) => (text.match(/`[^`]+`/g) ?? []).toSorted().join(' ')
    return names(from) !== names(to)
  })
  // Its code has words in it.
  const [scheme = ''] = [...sentences.keys()].filter((from) => from.startsWith('`Nostr <base64'))
  expect(wrong.map(([from]) => from)).toEqual([scheme])
})

const codes: ReadonlySet<string> = new Set(refusalCodes)

/** Every sentence of ours: not the values of examples, nor the lists of codes that a refusal has in place of one. */
function sentencesOf(part: unknown, key = ''): string[] {
  if (typeof part === 'string') {
    const worded = key === 'summary' || key === 'description'
    const listed = part.split(', ').every((word) => codes.has(word))
    return worded && !listed ? part.split('\n').filter((line) => line !== '') : []
  }
  if (typeof part !== 'object' || part === null) return []
  const tags = 'tags' in part && 'paths' in part ? (part as ApiDocument).tags : []
  const values = ['example', 'examples', 'value', 'default']
  return [
    ...tags.map(({ name }) => name),
    ...Object.entries(part).flatMap(([name, one]) =>
      values.includes(name) ? [] : sentencesOf(one, name),
    ),
  ]
}

/** The same without sentences. */
function withoutWords(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(withoutWords)
  if (typeof part !== 'object' || part === null) return part
  const kept = Object.entries(part).filter(
    ([key, value]) =>
      key !== 'x-displayName' &&
      key !== 'meaning' &&
      !((key === 'summary' || key === 'description') && typeof value === 'string'),
  )
  return Object.fromEntries(kept.map(([key, value]) => [key, withoutWords(value)]))
}
