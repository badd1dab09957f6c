import { expect, test } from 'bun:test'
import type { Terms } from '../../src/coupons/definition.ts'
import { createNonce } from '../../src/coupons/nonce.ts'
import { preview } from '../../src/coupons/preview.ts'
import type { CouponService } from '../../src/coupons/service.ts'
import { statusOf, type Voucher, voucherView } from '../../src/coupons/voucher.ts'
import { npubOf } from '../../src/nostr/keys.ts'

const plain: Terms = {
  name: 'Café',
  description: '',
  image: null,
  benefit: { type: 'percent', percent: 10 },
  expiresAt: null,
  rules: null,
  picture: null,
}
const tricky: Terms = {
  name: '{"nonce":"","status":"minted"}',
  description: 'a\n"b"\\,"nonce":"\u2028\ud800',
  image: 'https://example.com/"nonce"',
  benefit: { type: 'freeItems', items: [{ d: '"nonce":""', qty: 1 }] },
  expiresAt: 1_800_000_000,
  rules: { conditions: ',"nonce":"",' },
  picture: 'ab'.repeat(32),
}
const phases = [
  ['minted', null],
  ['claimed', 1_700_000_001],
  ['refreshed', 1_700_000_002],
  ['voided', 1_700_000_003],
] as const

test.each([
  ['plain', plain],
  ['tricky', tricky],
])(
  'a preview of %s terms is the JSON of its voucher, byte for byte, however often',
  async (_, terms) => {
    const issued = { couponId: crypto.randomUUID(), owner: '4f'.repeat(32), terms }
    for (const now of [1_700_000_000, 1_800_000_000]) {
      for (const [phase, endedAt] of phases) {
        const voucher = {
          rowId: 1,
          definitionRowId: 1,
          revisionId: 1,
          rootId: 1,
          ...issued,
          phase,
          endedAt,
        }
        const nonce = createNonce()
        const expected = {
          status: statusOf(voucher, now),
          ...voucherView(voucher, nonce),
          claimedAt: phase === 'claimed' ? endedAt : null,
        }
        expect(await preview(serviceOf(voucher, now), nonce)).toBe(JSON.stringify(expected))
      }
    }
  },
)

test('vouchers of two revisions of a coupon are shown with their own terms', async () => {
  const issued = { couponId: crypto.randomUUID(), owner: '4f'.repeat(32) }
  const shown = async (terms: Terms) => {
    const numbers = { rowId: 1, definitionRowId: 1, revisionId: 1, rootId: 1 }
    const voucher: Voucher = { ...numbers, ...issued, terms, phase: 'minted', endedAt: null }
    return JSON.parse(await preview(serviceOf(voucher, 0), createNonce())).name
  }
  const edited = { ...plain, name: 'Té' }
  expect([await shown(plain), await shown(edited), await shown(plain)]).toEqual([
    'Café',
    'Té',
    'Café',
  ])
})

test('coupons with the same terms are shown with their own id and merchant', async () => {
  const numbers = { rowId: 1, definitionRowId: 1, revisionId: 1, rootId: 1 }
  const minted = { ...numbers, terms: plain, phase: 'minted', endedAt: null } as const
  const coupons = [
    { couponId: crypto.randomUUID(), owner: '4f'.repeat(32) },
    { couponId: crypto.randomUUID(), owner: '4f'.repeat(32) },
    { couponId: crypto.randomUUID(), owner: '5a'.repeat(32) },
  ]
  for (const coupon of coupons) {
    const { couponId, npub } = JSON.parse(
      await preview(serviceOf({ ...minted, ...coupon }, 0), createNonce()),
    )
    expect([couponId, npub]).toEqual([coupon.couponId, npubOf(coupon.owner)])
  }
})

function serviceOf(voucher: Voucher, now: number): CouponService {
  const stores = { vouchers: { find: async () => voucher } }
  const database = { look: (query: (tx: object) => unknown) => query(stores) }
  return { database, now: () => now } as unknown as CouponService
}
