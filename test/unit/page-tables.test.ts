/** Tables that the panel exports: dates, amounts and discounts as spreadsheets and accountants read them. */
import { beforeAll, expect, test } from 'bun:test'
import type { Definition, Issuance, Redemption } from '../../src/client/models.ts'
import type { Benefit } from '../../src/coupons/benefit.ts'
import { pretendBrowser } from '../support/fake-browser.ts'

type Csv = typeof import('../../src/ui/panel/csv.ts')
type Table = typeof import('../../src/ui/panel/redemption-table.ts')
type Issued = typeof import('../../src/ui/panel/issuance-table.ts')

let csv: Csv
let table: Table
let issued: Issued

beforeAll(async () => {
  pretendBrowser()
  const speech = await import('../../src/ui/browser/language.ts')
  csv = await import('../../src/ui/panel/csv.ts')
  table = await import('../../src/ui/panel/redemption-table.ts')
  issued = await import('../../src/ui/panel/issuance-table.ts')
  speech.chooseLanguage('es')
})

const claimedAt = Math.floor(new Date(2026, 10, 2, 9, 5, 7).getTime() / 1000)
const redemption: Redemption = {
  handle: 'KT0IAIOJckg5wXvxvDoV3A',
  nonce: 'KT0IAIOJckg5wXvxvDoV3A',
  claimedAt,
  couponId: '01a1fe7c-2d92-7144-beaa-b9a2d400f9c4',
  name: '25 % de descuento; "hoy"',
  benefit: { type: 'percent', percent: 25, cap: { amount: 3000, currency: 'ARS' } },
  order: null,
  orderId: null,
  amountMsat: null,
  claimedBy: 'ab'.repeat(32),
  claimedByNpub: null,
  claimedByLabel: 'Caja 1',
  purchase: { amount: 1250.5, currency: 'ARS' },
  label: 'Ana',
}

test('the export has local date and time, amounts with their currency, the discount and the till', () => {
  const [head, row] = csv.csvOf(table.redemptionTable([redemption]), ';').split('\r\n')
  expect(head).toBe(
    '\ufeff"Fecha";"Hora";"Cupón";"Beneficio";"Compra";"Moneda";"Descuento";"Moneda del descuento";"Caja";"Referencia";"Pedido";"Destinatario"',
  )
  expect(row).toBe(
    '"2026-11-02";"09:05:07";"25 % de descuento; ""hoy""";"25 % de descuento en toda tu compra, hasta $3.000";1250,50;"ARS";312,63;"ARS";"Caja 1";"KT0IAIOJckg5wXvxvDoV3A";;"Ana"',
  )
})

test('the export and the live feed tell a name that the panel made in the language of their reader', async () => {
  const { sentenceOf } = await import('../../src/ui/panel/live-events.ts')
  const name = '25% off everything you buy'
  const shown = '25 % de descuento en toda tu compra'
  expect(table.redemptionTable([{ ...redemption, name }])[1]?.[2]).toBe(shown)
  const coupon = { name, benefit: redemption.benefit, createdAt: 5 } as Definition
  const event = { couponId: redemption.couponId, at: 5 }
  expect(sentenceOf({ ...event, type: 'claimed' }, coupon)).toBe(`Se canjeó «${shown}»`)
  expect(sentenceOf({ ...event, type: 'coupon' }, coupon)).toBe(`Se creó «${shown}»`)
})

test('the export counts a key that was not listed with those of no key, as the statistics do', () => {
  const rows = table.redemptionTable([{ ...redemption, unlisted: true }, redemption])
  expect(rows.slice(1).map((row) => row[8])).toEqual(['Sin identificar', 'Caja 1'])
})

test('the export of a payment in satoshi has them in whole and parts, and no discount that nobody knows', () => {
  const { purchase: _, ...paid } = { ...redemption, amountMsat: 4_200_500 }
  const row = table.redemptionTable([paid])[1]
  expect(row?.slice(4, 8)).toEqual([4200.5, 'SAT', null, null])
  expect(csv.csvOf([[4200.5, { value: 12000.5, places: 2 }, { value: 3, places: 2 }]])).toBe(
    '\ufeff4200.5,12000.50,3.00\r\n',
  )
})

const ars = (amount: number) => ({ amount, currency: 'ARS' }) as const
const usd = { amount: 10, currency: 'USD' } as const
const discounts: [Benefit, ReturnType<typeof ars> | typeof usd | null, number | null][] = [
  [{ type: 'percent', percent: 25 }, ars(1000), 250],
  [{ type: 'percent', percent: 35 }, ars(1.1), 0.39],
  [{ type: 'percent', percent: 25, cap: ars(100) }, ars(1000), 100],
  [{ type: 'percent', percent: 25, cap: ars(100) }, usd, null],
  [{ type: 'percent', percent: 25, productDs: ['café'] }, ars(1000), null],
  [{ type: 'percent', percent: 25 }, null, null],
  [{ type: 'fixed', ...ars(500) }, null, 500],
  [{ type: 'fixed', ...ars(500) }, ars(300), 300],
  [{ type: 'fixed', ...ars(500) }, usd, null],
  [{ type: 'multibuy', buyQty: 2, payQty: 1 }, ars(1000), null],
]

test.each(discounts)(
  'the export of %j with the purchase %j has the discount %p',
  (benefit, purchase, amount) => {
    const { purchase: _, ...unnamed } = redemption
    const row = { ...unnamed, benefit, ...(purchase && { purchase }) }
    const [, cells = []] = table.redemptionTable([row])
    const shown = amount === null ? null : { value: amount, places: 2 }
    expect(cells.slice(6, 8)).toEqual([shown, amount === null ? null : 'ARS'])
  },
)

test('the export of issued vouchers has time, status, recipient, batch and issuer', () => {
  const batch = '01a1fe7c-2d93-7a01-8f4e-5b1f0c7d9e21'
  const row: Issuance = {
    handle: 'KT0IAIOJckg5wXvxvDoV3A',
    nonce: 'KT0IAIOJckg5wXvxvDoV3A',
    status: 'claimed',
    expired: false,
    mintedBy: 'ab'.repeat(32),
    mintedByNpub: '',
    mintedAt: claimedAt,
    claimedAt,
    voidedAt: null,
    refreshedAt: null,
    chain: 'KT0IAIOJckg5wXvxvDoV3A',
    label: '=Ana',
    batch,
  }
  const handle = '9RR5vrTo9ckYttFgZgScDA'
  const poster: Issuance = { ...row, handle, chain: handle, status: 'minted', poster: 'p' }
  const { label: _, batch: __, ...unnamed } = poster
  const late: Issuance = { ...unnamed, handle: 'late', chain: 'late', expired: true }
  const rows = issued.issuanceTable([row, unnamed, late], new Map([[batch, 'Feria']]))
  expect(csv.csvOf(rows, ';').split('\r\n')).toEqual([
    '\ufeff"Fecha";"Hora";"Estado";"Destinatario";"Tanda";"Emitido por";"Referencia"',
    '"2026-11-02";"09:05:07";"Canjeado";"\'=Ana";"Feria";"Una caja sin nombre o que ya quitaste";"KT0IAIOJckg5wXvxvDoV3A"',
    '"2026-11-02";"09:05:07";"Sin usar";;;"Afiche";"9RR5vrTo9ckYttFgZgScDA"',
    '"2026-11-02";"09:05:07";"Vencido";;;"Afiche";"late"',
    '',
  ])
})

test('the export of issued vouchers has one row for each that was issued, as it stands after changes of hands', () => {
  const [first, second, last] = ['KT0IAIOJckg5wXvxvDoV3A', '9RR5vrTo9ckYttFgZgScDA', 'pbhO_dTJJ']
  const link = {
    expired: false,
    nonce: first,
    mintedBy: 'ab'.repeat(32),
    mintedByNpub: '',
    claimedAt: null,
    voidedAt: null,
    refreshedAt: null,
    chain: first,
  }
  const refreshed = { ...link, status: 'refreshed' } as const
  const list: Issuance[] = [
    { ...link, handle: last, status: 'claimed', mintedAt: claimedAt + 9 * 86_400 },
    { ...refreshed, handle: second, mintedAt: claimedAt + 86_400 },
    { ...refreshed, handle: first, mintedAt: claimedAt, poster: 'p', label: 'Ana' },
  ]
  expect(issued.issuanceTable(list, new Map()).slice(1)).toEqual([
    ['2026-11-02', '09:05:07', 'Canjeado', 'Ana', null, 'Afiche', last],
  ])
  // It changed hands between two pages of the list: the newest link is not there yet.
  expect(issued.issuanceTable(list.slice(1), new Map())).toHaveLength(2)
})
