/** Verification of a voucher without its service, by the steps of docs/api/events.md. */
import { expect, test } from 'bun:test'
import { verifyVoucher } from '../../src/client/index.ts'
import { newSigner } from '../support/client.ts'

const manager = newSigner()
const owner = newSigner().pubkey
const nonce = 'Anf-OSv8elgEZg1_GQowWQ'
const now = 1_795_270_913
const benefit = { type: 'percent', percent: 25 }

type Change = { content?: object; tags?: (tags: string[][]) => string[][]; kind?: number }

function voucher({ content = {}, tags = (own) => own, kind = 20_402 }: Change = {}) {
  const promise = {
    ...{ v: 1, nonce, owner, name: 'Café', description: '', coupon: benefit, phase: 'minted' },
    ...{ expiresAt: now + 100, ...content },
  }
  const own = [
    ['nonce', nonce],
    ['p', owner],
    ['coupon', '01a1fe7c-2d92-7144-beaa-b9a2d400f9c4'],
    ['phase', promise.phase],
    ['expiration', String(promise.expiresAt)],
  ]
  const text = JSON.stringify(promise)
  return manager.sign({ kind, created_at: now, tags: tags(own), content: text })
}

const expected = { manager: manager.pubkey, nonce, owner, now }

test('a voucher of the manager holds its terms until it expires', () => {
  const verdict = verifyVoucher(voucher(), expected)
  expect(verdict).toMatchObject({ genuine: true, expired: false, promise: { nonce, owner } })
  const later = verifyVoucher(voucher(), { ...expected, now: now + 100 })
  expect(later).toMatchObject({ genuine: true, expired: true })
  // By the clock of the device it is long over or long to come, and genuine all the same.
  expect(verifyVoucher(voucher(), { manager: manager.pubkey }).genuine).toBe(true)
})

test('a benefit of a later version is genuine, and has no terms to compute with', () => {
  const later = voucher({ content: { coupon: { type: 'half', of: 'all' } } })
  const verdict = verifyVoucher(later, expected)
  expect(verdict).toMatchObject({ genuine: true, promise: { name: 'Café', coupon: null } })
  expect(verifyVoucher(later, { ...expected, manager: other }).genuine).toBe(false)
})

const whole = voucher()
const other = newSigner().pubkey
const wrong: [why: string, event: unknown, change: object][] = [
  ['shape', null, {}],
  ['shape', JSON.stringify(whole), {}],
  ['shape', voucher({ kind: 20_403 }), {}],
  ['shape', voucher({ content: { coupon: { type: 'percent', percent: 0 } } }), {}],
  ['shape', voucher({ content: { coupon: { type: 5 } } }), {}],
  ['shape', voucher({ content: { nonce: 'B'.repeat(22) } }), {}],
  ['shape', voucher({ content: { owner: other } }), {}],
  ['shape', voucher({ tags: (tags) => tags.filter(([name]) => name !== 'expiration') }), {}],
  ['other-manager', whole, { manager: other }],
  ['signature', { ...whole, created_at: now + 1 }, {}],
  ['signature', { ...whole, sig: whole.sig.replace(/^./, (one) => (one === '0' ? '1' : '0')) }, {}],
  ['other-merchant', whole, { owner: other }],
  ['phase', voucher({ content: { phase: 'claimed' } }), {}],
  ['nonce', whole, { nonce: 'B'.repeat(22) }],
]
test('an expected key that is none is a mistake of the program, and no forgery', () => {
  const npub = `npub1${'q'.repeat(58)}`
  expect(() => verifyVoucher(whole, { manager: npub })).toThrow(RangeError)
  expect(() => verifyVoucher(whole, { ...expected, owner: npub })).toThrow(RangeError)
})

test.each(wrong)('another one is not genuine: %s', (why, event, change) => {
  expect(verifyVoucher(event, { ...expected, ...change })).toEqual({ genuine: false, why } as never)
})
