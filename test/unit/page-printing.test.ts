/** Printing from a page: where a browser can, on the printer that the device remembers. */
import { beforeAll, beforeEach, expect, test } from 'bun:test'
import { typedGroups } from '../../src/client/typed-code.ts'
import { type FakePage, pretendPage } from '../support/fake-browser.ts'
import { type FakePrinter, fakeUsb } from '../support/fake-printers.ts'
import { printReceipt } from '../support/receipt-printer.ts'

type Settings = typeof import('../../src/ui/printer/settings.ts')
type Printing = typeof import('../../src/ui/printer/printing.ts')
type Tickets = typeof import('../../src/ui/printer/coupon-ticket.ts')

let page: FakePage
let settings: Settings
let printing: Printing
let tickets: Tickets
let printer: FakePrinter
const { usb, printers } = fakeUsb()

const secure = (isSecureContext: boolean) => Object.assign(window, { isSecureContext })

beforeAll(async () => {
  page = pretendPage(() => undefined)
  page.texts.set('cuponera:printer', '{"cable":"laser","width":57,"accents":0,"speed":1}')
  Object.assign(navigator, { usb })
  Object.assign(location, { protocol: 'http:', hostname: '127.0.0.1' })
  settings = await import('../../src/ui/printer/settings.ts')
  printing = await import('../../src/ui/printer/printing.ts')
  tickets = await import('../../src/ui/printer/coupon-ticket.ts')
  printer = printers[0]!
})

beforeEach(() => {
  secure(true)
})

const handed = {
  name: 'Café',
  description: 'De lunes a jueves',
  coupon: {
    type: 'percent' as const,
    percent: 25,
    cap: { amount: 5000, currency: 'ARS' as const },
  },
  nonce: '3q2-7wEjRWeJq83vEjRWeA',
  npub: 'npub1',
  expiresAt: null,
}

test('stored settings that no build wrote are those of the beginning', () => {
  expect(settings.printerSettings.value).toEqual({
    ...{ cable: null, width: 58, accents: true, speed: 9600 },
  })
  expect(settings.hasPrinter()).toBe(false)
})

test('plain http has no printer, nor has a browser without USB and serial ports', () => {
  expect(settings.printerCables()).toEqual(['usb'])
  secure(false)
  expect(settings.printerCables()).toEqual([])
})

test('a chosen printer is remembered, and prints the ticket of a coupon', async () => {
  expect(await printing.choosePrinter('usb')).toBe(true)
  settings.keepPrinter({ cable: 'usb', width: 80 })
  expect(settings.hasPrinter()).toBe(true)
  expect(JSON.parse(page.texts.get('cuponera:printer') ?? '')).toMatchObject({ cable: 'usb' })
  await printing.printTicket(tickets.couponTicket(handed, 'Bar «Sur»', null))
  const { lines, codes } = printReceipt(Uint8Array.from(printer.bytes), { columns: 42, dots: 512 })
  const groups = typedGroups(handed.nonce) ?? []
  const typed = [groups.slice(0, 4).join(' '), groups.slice(4).join(' ')]
  expect(lines.map(({ text }) => text)).toEqual([
    'Bar «Sur»',
    'Café',
    '25 % de descuento en toda tu compra, hasta',
    '$5.000',
    'No vence',
    'De lunes a jueves',
    'Escanealo con tu teléfono',
    'Código para escribir',
    ...typed,
  ])
  expect(codes.map(({ text }) => text)).toEqual([`http://127.0.0.1:3000/c#${handed.nonce}`])
  secure(false)
  expect(settings.hasPrinter()).toBe(false)
})

test('a coupon whose letters no printer has is not printed with question marks', async () => {
  printer.bytes = []
  const ticket = tickets.couponTicket({ ...handed, description: 'до 5 000' }, null, null)
  const cause = await printing.printTicket(ticket).catch((error: unknown) => error)
  expect(cause).toMatchObject({ trouble: 'letters' })
  expect(printer.bytes).toEqual([])
})

test('the test ticket fits the narrower paper', async () => {
  printer.bytes = []
  settings.keepPrinter({ width: 58 })
  await printing.printTicket(tickets.trialTicket())
  const { lines } = printReceipt(Uint8Array.from(printer.bytes), { columns: 32, dots: 384 })
  expect(lines.map(({ text }) => text)).toContain('12345678901234567890123456789012')
})

test('a ticket names its recipient', () => {
  const recipient = { name: 'Ana', phone: null }
  const { lines } = tickets.couponTicket({ ...handed, recipient }, null, null)
  expect(lines[0]).toBe('Para Ana')
})
