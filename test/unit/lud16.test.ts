import { describe, expect, test } from 'bun:test'
import { createUrlRule } from '../../src/outbound/fetch-public.ts'
import { parseLud16 } from '../../src/wallet/identities/lud16.ts'
import { walletObject } from '../support/identities.ts'
import { refusalOf } from '../support/refused.ts'

const rules = { hosts: ['cupones.example', '127.0.0.1:3000'], usable: createUrlRule() }
const parse = (value: unknown) => parseLud16(value, rules)
const nested = (depth: number): unknown => (depth === 0 ? 1 : { a: nested(depth - 1) })

describe('a wallet’s LUD-16 object', () => {
  test('is stored unchanged', () => {
    const value = walletObject({ anything: { else: [1] } })
    expect(parse(value)).toBe(value)
    expect(
      parse(walletObject({ metadata: '[["text/plain","x"],["text/email","a@b"]]' })),
    ).toBeTruthy()
  })

  test('may be missing', () => {
    expect(parse(undefined)).toBeNull()
    expect(parse(null)).toBeNull()
  })

  const wrong: [string, unknown][] = [
    ['text', 'x'],
    ['a list', [walletObject()]],
    ['nested too deep', walletObject({ more: nested(5) })],
    ['too long', walletObject({ more: 'x'.repeat(13_000) })],
    ['another tag', walletObject({ tag: 'withdrawRequest' })],
    ['no least amount', walletObject({ minSendable: undefined })],
    ['a least amount of nothing', walletObject({ minSendable: 0 })],
    ['a part of a millisatoshi', walletObject({ minSendable: 1.5 })],
    ['less than the least at most', walletObject({ maxSendable: 999 })],
    ['an amount as text', walletObject({ maxSendable: '100000' })],
    ['metadata that is no text', walletObject({ metadata: [['text/plain', 'x']] })],
    ['metadata that is no JSON', walletObject({ metadata: 'x' })],
    ['metadata that is no list', walletObject({ metadata: '{}' })],
    ['metadata of something else', walletObject({ metadata: '[1]' })],
    ['metadata nested too deep', walletObject({ metadata: '['.repeat(10_000) })],
    ['no words', walletObject({ metadata: '[["text/identifier","a@b"]]' })],
    ['no identifier', walletObject({ metadata: '[["text/plain","x"]]' })],
  ]
  for (const [name, value] of wrong) {
    test(`is invalid with ${name}`, () => {
      expect(refusalOf(() => parse(value))).toEqual({ code: 'identity-lud16-invalid' })
    })
  }

  const callbacks: unknown[] = [
    ...[undefined, 7, '', 'x', '/relative', 'http://wallet.example/cb', 'ftp://wallet.example/cb'],
    ...['https://user@wallet.example/', 'https://wallet.example./', 'https://localhost/cb'],
    ...['https://intranet/cb', 'https://127.0.0.1/cb', 'https://10.1.2.3/cb', 'https://[::1]/cb'],
    ...['https://2130706433/cb', 'https://0x7f.1/cb', 'https://[::ffff:8.8.8.8]/cb'],
    ...['https://169.254.169.254/latest', 'https://cupones.example/api/lud16/ana/cb'],
    ...['https://CUPONES.example:443/x', `https://wallet.example/${'x'.repeat(1000)}`],
  ]
  for (const callback of callbacks) {
    test(`does not lead to ${String(callback).slice(0, 50)}`, () => {
      const value = walletObject({ callback })
      expect(refusalOf(() => parse(value))).toEqual({ code: 'identity-lud16-invalid' })
    })
  }
  for (const callback of ['https://8.8.8.8/cb', 'https://[2606:4700::1]/cb?a=b#c']) {
    test(`may lead to ${callback}`, () => {
      expect(parse(walletObject({ callback }))).toBeTruthy()
    })
  }
})
