import { describe, expect, test } from 'bun:test'
import { parseBenefit } from '../../src/coupons/benefit.ts'
import { refusalOf } from '../support/refused.ts'

const products = (count: number) => Array.from({ length: count }, (_, at) => `p${at}`)
const items = (count: number) => products(count).map((d) => ({ d, qty: 1 }))
const long = '🧉'.repeat(128)

describe('a benefit is returned in canonical form', () => {
  const good: [name: string, sent: unknown, canonical: unknown][] = [
    ['percent', { type: 'percent', percent: 10 }, { type: 'percent', percent: 10 }],
    ['the least percent', { type: 'percent', percent: 0.01 }, { type: 'percent', percent: 0.01 }],
    ['the most percent', { type: 'percent', percent: 100 }, { type: 'percent', percent: 100 }],
    [
      'two decimals that a double cannot hold',
      { type: 'percent', percent: 33.33 },
      { type: 'percent', percent: 33.33 },
    ],
    [
      '0.29, which times 100 is not whole',
      { type: 'percent', percent: 0.29 },
      { type: 'percent', percent: 0.29 },
    ],
    [
      'fixed in pesos',
      { type: 'fixed', amount: 1500.5, currency: 'ARS' },
      { type: 'fixed', amount: 1500.5, currency: 'ARS' },
    ],
    [
      'fixed in dollars',
      { type: 'fixed', amount: 0.01, currency: 'USD' },
      { type: 'fixed', amount: 0.01, currency: 'USD' },
    ],
    [
      'fixed in satoshi',
      { type: 'fixed', amount: 21, currency: 'SAT' },
      { type: 'fixed', amount: 21, currency: 'SAT' },
    ],
    [
      'multibuy',
      { type: 'multibuy', buyQty: 100, payQty: 99 },
      { type: 'multibuy', buyQty: 100, payQty: 99 },
    ],
    [
      '2 for 1',
      { type: 'multibuy', buyQty: 2, payQty: 1 },
      { type: 'multibuy', buyQty: 2, payQty: 1 },
    ],
    [
      'buyXgetY of one product',
      { type: 'buyXgetY', buyProductD: 'a', giftProductD: 'a' },
      { type: 'buyXgetY', buyProductD: 'a', giftProductD: 'a' },
    ],
    [
      'freeItems of fifty',
      { type: 'freeItems', items: items(50) },
      { type: 'freeItems', items: items(50) },
    ],
    [
      'freeItems with a quantity of 100',
      { type: 'freeItems', items: [{ d: 'a', qty: 100, x: 1 }] },
      { type: 'freeItems', items: [{ d: 'a', qty: 100 }] },
    ],
    [
      'products, the repeated dropped, in their order',
      { type: 'percent', percent: 1, productDs: ['b', 'a', 'b'] },
      { type: 'percent', percent: 1, productDs: ['b', 'a'] },
    ],
    [
      'fifty products after the repeated are dropped',
      { type: 'percent', percent: 1, productDs: [...products(50), 'p0', 'p1'] },
      { type: 'percent', percent: 1, productDs: products(50) },
    ],
    [
      'a product of 128 code points',
      { type: 'fixed', amount: 1, currency: 'SAT', productDs: [long] },
      { type: 'fixed', amount: 1, currency: 'SAT', productDs: [long] },
    ],
    [
      'productDs of null',
      { type: 'percent', percent: 1, productDs: null },
      { type: 'percent', percent: 1 },
    ],
    [
      'productDs that are empty',
      { type: 'multibuy', buyQty: 3, payQty: 2, productDs: [] },
      { type: 'multibuy', buyQty: 3, payQty: 2 },
    ],
    ['a cap of null', { type: 'percent', percent: 1, cap: null }, { type: 'percent', percent: 1 }],
    [
      'unknown keys',
      { type: 'percent', percent: 1, amount: 5, x: null },
      { type: 'percent', percent: 1 },
    ],
    [
      'productDs where they mean nothing',
      { type: 'buyXgetY', buyProductD: 'a', giftProductD: 'b', productDs: ['x'] },
      { type: 'buyXgetY', buyProductD: 'a', giftProductD: 'b' },
    ],
  ]
  for (const [name, sent, canonical] of good) {
    test(name, () => {
      expect(parseBenefit(sent)).toEqual(canonical as never)
      expect(JSON.stringify(parseBenefit(sent))).toBe(JSON.stringify(canonical))
    })
  }

  test('a cap is accepted with every type', () => {
    const types = [
      { type: 'percent', percent: 1 },
      { type: 'fixed', amount: 1, currency: 'ARS' },
      { type: 'multibuy', buyQty: 2, payQty: 1 },
      { type: 'buyXgetY', buyProductD: 'a', giftProductD: 'b' },
      { type: 'freeItems', items: [{ d: 'a', qty: 1 }] },
    ]
    for (const type of types) {
      for (const cap of [
        { amount: 0.01, currency: 'ARS' },
        { amount: 99.99, currency: 'USD' },
        { amount: 1, currency: 'SAT' },
      ]) {
        expect(parseBenefit({ ...type, cap: { ...cap, x: 1 } })).toEqual({ ...type, cap } as never)
      }
    }
  })

  test('a canonical benefit stays as it is', () => {
    for (const [, , canonical] of good) expect(parseBenefit(canonical)).toEqual(canonical as never)
  })

  test('a __proto__ key in the JSON is not a cap', () => {
    const sent = JSON.parse(
      '{"type":"percent","percent":1,"__proto__":{"cap":{"amount":1,"currency":"ARS"}}}',
    )
    expect(JSON.stringify(parseBenefit(sent))).toBe('{"type":"percent","percent":1}')
  })
})

describe('an invalid benefit is refused with the name of its wrong field', () => {
  const percent = { type: 'percent', percent: 1 }
  const fixed = { type: 'fixed', amount: 1, currency: 'ARS' }
  const multibuy = { type: 'multibuy', buyQty: 3, payQty: 2 }
  const swap = { type: 'buyXgetY', buyProductD: 'a', giftProductD: 'b' }
  const free = (list: unknown) => ({ type: 'freeItems', items: list })
  const badNumbers = [
    undefined,
    null,
    '1',
    true,
    [],
    {},
    Number.NaN,
    Number.POSITIVE_INFINITY,
    -1,
    0,
  ]
  const badProducts = [
    undefined,
    null,
    '',
    1,
    [],
    'x'.repeat(129),
    `${long}x`,
    'a\nb',
    '\ud800',
    '\u0000',
  ]
  const bad: [field: string, sent: unknown][] = [
    ...[undefined, null, 1, 'percent', [], true].map(
      (sent) => ['benefit', sent] as [string, unknown],
    ),
    ...[undefined, null, '', 'Percent', 'gift', 'toString', '__proto__', 1].map(
      (type) => ['benefit.type', { ...percent, type }] as [string, unknown],
    ),
    ...[...badNumbers, 100.01, 101, 0.001, 10.005, 1e-9].map(
      (value) => ['benefit.percent', { ...percent, percent: value }] as [string, unknown],
    ),
    ...[...badNumbers, 0.001, 10.999, 1e15].map(
      (amount) => ['benefit.amount', { ...fixed, amount }] as [string, unknown],
    ),
    ...[undefined, null, '', 'ars', 'EUR', 'BTC', 'toString', 1].map(
      (currency) => ['benefit.currency', { ...fixed, currency }] as [string, unknown],
    ),
    ['benefit.amount', { ...fixed, currency: 'SAT', amount: 1.5 }],
    ...[...badNumbers, 1.5, 101].map(
      (buyQty) => ['benefit.buyQty', { ...multibuy, buyQty }] as [string, unknown],
    ),
    ...[...badNumbers, 1.5, 101, 3, 4].map(
      (payQty) => ['benefit.payQty', { ...multibuy, payQty }] as [string, unknown],
    ),
    ...badProducts.map(
      (d) => ['benefit.buyProductD', { ...swap, buyProductD: d }] as [string, unknown],
    ),
    ...badProducts.map(
      (d) => ['benefit.giftProductD', { ...swap, giftProductD: d }] as [string, unknown],
    ),
    ...[undefined, null, [], {}, 'a', items(51), [...items(2), { d: 'p0', qty: 2 }]].map(
      (list) => ['benefit.items', free(list)] as [string, unknown],
    ),
    ['benefit.items.0', free(['a'])],
    ['benefit.items.1', free([{ d: 'a', qty: 1 }, null])],
    ...badProducts.map((d) => ['benefit.items.0.d', free([{ d, qty: 1 }])] as [string, unknown]),
    ...[...badNumbers, 1.5, 101].map(
      (qty) => ['benefit.items.0.qty', free([{ d: 'a', qty }])] as [string, unknown],
    ),
    ...['a', {}, 1, true].map(
      (productDs) => ['benefit.productDs', { ...percent, productDs }] as [string, unknown],
    ),
    ['benefit.productDs', { ...percent, productDs: products(51) }],
    ...badProducts.map(
      (d) => ['benefit.productDs.1', { ...fixed, productDs: ['a', d] }] as [string, unknown],
    ),
    ...['5', 5, [], true].map((cap) => ['benefit.cap', { ...percent, cap }] as [string, unknown]),
    ...[...badNumbers, 0.001].map(
      (amount) =>
        ['benefit.cap.amount', { ...swap, cap: { amount, currency: 'ARS' } }] as [string, unknown],
    ),
    ['benefit.cap.amount', { ...percent, cap: { amount: 0.5, currency: 'SAT' } }],
    ...[undefined, null, 'sat', 'EUR'].map(
      (currency) =>
        ['benefit.cap.currency', { ...percent, cap: { amount: 1, currency } }] as [string, unknown],
    ),
  ]
  for (const [field, sent] of bad) {
    const shown = Bun.inspect(sent, { compact: true }).replaceAll(/\s+/g, ' ')
    test(`${field} of ${shown.slice(0, 90)}`, () => {
      expect(refusalOf(() => parseBenefit(sent))).toEqual({ code: 'benefit-invalid', field })
    })
  }
})
