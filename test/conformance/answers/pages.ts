import { expect, test } from 'bun:test'
import { objectIn, saysSame, withoutDay } from '../../support/another-day.ts'
import type { Json } from '../../support/client.ts'
import type { Documented, Exchange } from '../../support/documented.ts'
import { blockWith } from '../../support/printed.ts'
import type { PrintedRequest } from '../../support/printed-exchanges.ts'

/** The blocks of the reference against the requests of all scenarios and their answers. `reached`: routes of this engine. */
export function testPages(service: Documented, reached: ReadonlySet<string>): void {
  const { printed, exchanges } = service
  const of = (route: string) => exchanges.get(route) ?? []

  test('every request of the pages was sent as it is printed, and had the answer below it', () => {
    if (!service.complete()) return
    const wrong = printed.requests.flatMap((request) => {
      if (!reached.has(request.route)) return []
      const sent = of(request.route).filter((one) => wasSent(request, one))
      const answer = printed.answers.find((one) => one.request === request)
      if (sent.some(({ status }) => status < 300) === false) return [`${request.place}: not sent`]
      const had =
        answer === undefined ||
        sent.some((one) => one.status === answer.status && hasForm(answer.value, one.answer))
      return had ? [] : [`${answer.place}: another answer`]
    })
    expect(wrong).toEqual([])
  })

  test('every answer of the pages was had in its form', () => {
    if (!service.complete()) return
    const wrong = printed.answers.flatMap(({ place, route, status, value, partial }) => {
      if (route === null || status === null || !reached.has(route)) return []
      const found = of(route).some(
        (one) =>
          one.status === status && hasForm(value, partial ? partOf(one.answer, value) : one.answer),
      )
      return found ? [] : [place]
    })
    expect(wrong).toEqual([])
  })

  test('the answers of the pages that are no JSON were had as they are printed', () => {
    if (!service.complete()) return
    const [first = '', ...headers] = blockWith('docs/api/gateway.md', '202 A').trim().split('\n')
    expect(first).toBe('HTTP/1.1 202 Accepted')
    const published = of('POST /nostr/publish').find(({ status }) => status === 202)
    const answered = headers.map((header) => {
      const [name = ''] = header.split(': ')
      return `${name}: ${published?.answered.get(name)}`
    })
    expect(answered.map(withoutDay)).toEqual(headers.map(withoutDay))
    const stream = of('GET /api/coupons/live').find(({ status }) => status === 200)
    const told = linesOf(blockWith('docs/api/statistics.md', 'retry:'))
    expect(withoutDay(linesOf(String(stream?.answer)))).toEqual(withoutDay(told))
  })

  test('every other block of the pages was a part of a request or of an answer, as it is printed', () => {
    if (!service.complete()) return
    const parts = new Set([...exchanges.values()].flat().flatMap(partsOf))
    const wrong = printed.answers.filter(
      ({ route, status, value }) =>
        (route === null || status === null) && !parts.has(JSON.stringify(withoutDay(value))),
    )
    expect(wrong.map(({ place }) => place)).toEqual([])
  })
}

/** Lines of an answer that is text; the data of an event is JSON. */
function linesOf(text: string): unknown[] {
  return text.split('\n').map((line) => {
    const [, data] = /^data: (.*)$/.exec(line) ?? []
    return data === undefined ? line : JSON.parse(data)
  })
}

/** Path, query, headers and body are those that are printed, but for the values of their day. */
function wasSent({ path, headers, body }: PrintedRequest, sent: Exchange): boolean {
  const { Host: _, ...named } = headers
  return (
    saysSame(partsOfPath(path), partsOfPath(sent.path)) &&
    saysSame(named, sent.headers) &&
    (body === undefined || saysSame(body, sent.body))
  )
}

function partsOfPath(path: string): unknown {
  const { pathname, searchParams } = new URL(path, 'http://localhost')
  return [pathname.split('/').map(decodeURIComponent), [...searchParams]]
}

/** The keys of an answer of which a page shows a part. */
function partOf(answer: Json, shown: Json): Json {
  return Object.fromEntries(Object.keys(shown).map((key) => [key, answer?.[key]]))
}

/** Keys of numbers that count what others did, or the bytes of a file. */
const counts = new Set(['bytes', 'issued', 'open', 'expired', 'minted', 'claimed', 'voided'])

/** The same, but for the values of their day, and for counts: also of days in statistics. */
function hasForm(printed: unknown, real: unknown): boolean {
  return sameForm(withoutDay(printed), withoutDay(real))
}

function sameForm(printed: unknown, real: unknown, key = ''): boolean {
  if (Array.isArray(printed) && Array.isArray(real)) {
    if (key === 'days') return printed.every((one) => sameForm(one, real[0]))
    return printed.length === real.length && printed.every((one, at) => sameForm(one, real[at]))
  }
  if (!isObject(printed) || !isObject(real)) {
    return (
      printed === real ||
      (counts.has(key) && typeof printed === 'number' && typeof real === 'number')
    )
  }
  const keys = Object.keys(printed)
  return (
    JSON.stringify(keys) === JSON.stringify(Object.keys(real)) &&
    keys.every((key) => sameForm(printed[key], real[key], key))
  )
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

/** Every object in an exchange, in JSON texts and in the event of its credentials, too. */
function partsOf({ headers, body, answer }: Exchange): string[] {
  const [scheme, credentials = ''] = headers.Authorization?.split(' ') ?? []
  const proof = scheme === 'Nostr' ? Buffer.from(credentials, 'base64').toString() : null
  return [proof, body, answer].flatMap(objectsIn)
}

function objectsIn(value: unknown): string[] {
  if (typeof value === 'string') return objectsIn(objectIn(value))
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return []
  const inside = Object.values(value).flatMap(objectsIn)
  return Array.isArray(value) ? inside : [JSON.stringify(withoutDay(value)), ...inside]
}
