/** Bodies that are meant to stall their reader: each is refused, and costs no more than a harmless one. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { limits } from '../../src/base/limits.ts'
import { cardEnv } from '../support/cards.ts'
import { type Answer, call } from '../support/client.ts'
import { cpuSeconds } from '../support/process-figures.ts'
import { sendBytes } from '../support/raw.ts'
import { cleanUp, startServer, type TestServer } from '../support/server.ts'

const arrays = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`
const objects = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
/** A harmless body of the same length as one that nests. */
const harmless = (text: string) => `{"x":"${'a'.repeat(text.length - 8)}"}`

/** Far above the cost of reading a body, and far below the cost of printing it. */
const ratioMax = 20
const cpuMsMax = 500

let server: TestServer
beforeAll(async () => {
  server = await startServer({ env: { ...cardEnv, RATE_LIMIT: 'off', NODE_ENV: 'development' } })
})
afterAll(cleanUp)

const post = (path: string, body: string) => call(server.url, path, { body })

/** The answer to a body, which must not cost much more than a harmless one of the same length. */
async function cheap(path: string, body: string): Promise<Answer> {
  const cost = async (text: string) => {
    const before = cpuSeconds(server.pid) * 1000
    const answer = await post(path, text)
    return { answer, cpu: cpuSeconds(server.pid) * 1000 - before }
  }
  await cost(harmless(body))
  const usual = await cost(harmless(body))
  const { answer, cpu } = await cost(body)
  const costly = cpu > ratioMax * Math.max(usual.cpu, 10) && cpu > cpuMsMax
  expect({ costly, cpu, usual: usual.cpu }).toMatchObject({ costly: false })
  return answer
}

const deep: [string, (room: number) => string][] = [
  ['arrays', (room) => `{"x":${arrays(Math.floor((room - 8) / 2))}}`],
  ['objects', (room) => `{"x":${objects(Math.floor((room - 9) / 6))}}`],
  ['arrays in a content', (room) => `{"content":{"a":${arrays(Math.floor((room - 24) / 2))}}}`],
]

describe.each(deep)('%s, nested to the limit of the body,', (_, nested) => {
  test.each([
    ['/api/lud16/x/cb', limits.transferBytesMax],
    ['/api/transfer', limits.transferBytesMax],
    ['/api/coupons/claim', limits.bodyBytesMax],
    ['/api/coupons/refresh', limits.bodyBytesMax],
  ])('are refused as no body on %s', async (path, room) => {
    const { status, json } = await cheap(path, nested(room))
    expect([status, json.code]).toEqual([400, 'body-invalid'])
  })

  test.each([
    ['/nostr/publish', limits.publishBytesMax, 422, 'event-invalid'],
    ['/nostr/fetch', limits.publishBytesMax, 422, 'filter-invalid'],
    ['/api/nonce', limits.bodyBytesMax, 400, 'identity-event-invalid'],
    ['/api/identity', limits.bodyBytesMax, 400, 'identity-event-invalid'],
    ['/ntag424', limits.bodyBytesMax, 422, 'card-event-invalid'],
    ['/card', limits.bodyBytesMax, 422, 'card-event-invalid'],
    ['/card/pay', limits.bodyBytesMax, 422, 'card-event-invalid'],
    ['/card/data/request', limits.bodyBytesMax, 422, 'card-event-invalid'],
    ['/card/config/request', limits.bodyBytesMax, 422, 'card-event-invalid'],
  ])('are refused on %s as what it refuses without', async (path, room, status, code) => {
    const answer = await cheap(path, nested(room))
    expect([answer.status, answer.json.code]).toEqual([status, code])
  })
})

test('64 levels of nesting are accepted, and 65 are too deep', async () => {
  const at = (levels: number) => post('/nostr/publish', `{"content":${arrays(levels)}}`)
  const claim = (levels: number) => post('/api/coupons/claim', `{"x":${arrays(levels)}}`)
  const answers = [await at(63), await at(64), await claim(63), await claim(64)]
  expect(answers.map(({ status, json }) => [status, json.code, json.field])).toEqual([
    [422, 'event-invalid', undefined],
    [422, 'event-invalid', undefined],
    [400, 'field-invalid', 'nonce'],
    [400, 'body-invalid', undefined],
  ])
})

test('a refusal names the field without its value', async () => {
  const marked = `[${'["marca",'.repeat(60)}0${']'.repeat(60)}]`
  const body = `{"action":"voucher","voucher":{},"nonce":[${Array.from({ length: 90 }, () => marked)}]}`
  const { status, text, json } = await cheap('/api/lud16/x/cb', body)
  expect([status, Object.keys(json)]).toEqual([400, ['status', 'reason', 'code', 'field']])
  expect([json.code, json.field, text.includes('marca')]).toEqual(['field-invalid', 'nonce', false])
})

test('a body with too many keys, or a number with too many digits, is refused in the same way', async () => {
  const digits = `{"x":${'1'.repeat(limits.jsonDigitsMax + 1)}}`
  const keys = `{${'"a":0,'.repeat(limits.jsonKeysMax)}"b":0}`
  const answers = [
    await post('/api/coupons/claim', digits),
    await post('/nostr/publish', digits),
    await post('/nostr/publish', keys),
    await post('/nostr/fetch', keys),
  ]
  expect(answers.map(({ status, json }) => [status, json.code])).toEqual([
    [400, 'body-invalid'],
    [422, 'event-invalid'],
    [422, 'event-invalid'],
    [422, 'filter-invalid'],
  ])
})

test('keys of prototypes add nothing to a body, and change nothing for others', async () => {
  const inner = '{"nonce":"AAAAAAAAAAAAAAAAAAAAAA","name":"x","content":"","tags":[],"kind":1}'
  for (const key of [
    '__proto__',
    'constructor',
    'prototype',
    'toJSON',
    'toString',
    'hasOwnProperty',
  ]) {
    const body = `{"${key}":${inner},"x":{"${key}":${inner}}}`
    const claim = await post('/api/coupons/claim', body)
    const publish = await post('/nostr/publish', body)
    const answers = [claim, publish].map(({ status, json }) => [status, json.code, json.field])
    expect({ key, answers }).toEqual({
      key,
      answers: [
        [400, 'field-invalid', 'nonce'],
        [422, 'event-invalid', undefined],
      ],
    })
  }
  expect((await post('/api/coupons/claim', '{}')).json.field).toBe('nonce')
})

test('a body in too many chunks is refused before it takes time', async () => {
  const inChunks = (count: number, chunk: string) => {
    const head = 'POST /nostr/publish HTTP/1.1\r\nHost: cupones.example\r\n'
    const type = 'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n'
    const one = `${chunk.length.toString(16)}\r\n${chunk}\r\n`
    return sendBytes(server.url, Buffer.from(`${head}${type}${one.repeat(count)}0\r\n\r\n`))
  }
  const before = cpuSeconds(server.pid) * 1000
  const tiny = await Promise.all([1, 2, 3].map(() => inChunks(limits.publishBytesMax, ' ')))
  const cpu = cpuSeconds(server.pid) * 1000 - before
  expect(tiny.map(({ status, json }) => [status, json.code])).toEqual(
    Array(3).fill([413, 'too-large']),
  )
  expect(cpu).toBeLessThan(cpuMsMax)
  expect((await inChunks(limits.bodyChunksMax, ' ')).json.code).toBe('not-json-event')
})

test('a wrong Content-Type or Accept is refused first', async () => {
  const body = `{"content":${arrays(1000)}}`
  const sent = (headers: Record<string, string>) =>
    call(server.url, '/nostr/publish', { body, headers })
  expect((await sent({ 'Content-Type': 'text/plain' })).status).toBe(415)
  expect((await sent({ Accept: 'text/html' })).status).toBe(406)
})

test('none of the requests above was logged as a fault', () => {
  expect(server.output()).not.toContain('"fault"')
})
