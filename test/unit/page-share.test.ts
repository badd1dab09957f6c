import { describe, expect, test } from 'bun:test'
import {
  canSharePictures,
  shareBySystem,
  shareLink,
  whatsappLink,
} from '../../src/ui/browser/share.ts'
import { pretendBrowser } from '../support/fake-browser.ts'

pretendBrowser()
const { couponMessage } = await import('../../src/ui/hand/message.ts')

test('a message for WhatsApp keeps whole characters, and leaves out half an emoji', () => {
  const link = whatsappLink('Tacos \ud83c & ñandú 🌮\nhttps://x.example/c#a')
  expect(new URL(link).searchParams.get('text')).toBe('Tacos  & ñandú 🌮\nhttps://x.example/c#a')
})

test('a message tells the whole promise, and the network that its link needs', () => {
  const handed = {
    name: 'Café',
    description: ' De lunes a jueves ',
    coupon: {
      type: 'percent' as const,
      percent: 25,
      cap: { amount: 5000, currency: 'ARS' as const },
    },
    nonce: 'A'.repeat(22),
    npub: 'npub1',
    expiresAt: null,
    rules: { minimum: { amount: 10_000, currency: 'ARS' as const }, conditions: 'En efectivo' },
  }
  const link = 'https://cupones.example/c#a'
  const message = (reach: 'public' | 'network' | 'device') =>
    couponMessage(handed, { shop: 'Bar «Sur»', link, reach }).split('\n')
  const promise = [
    '25 % de descuento en toda tu compra, hasta $5.000',
    'De lunes a jueves',
    'Compra mínima $10.000',
    'En efectivo',
    'No vence',
  ]
  const opening = 'Te paso un cupón de Bar «Sur»:'
  expect(message('public')).toEqual([opening, ...promise, '', 'Abrilo en tu teléfono:', link])
  // A till reads the code where the phone cannot open the link.
  const code = ['', 'O mostrá este código en la caja:', '0000 0000 0000 0000 0000 0000 0000']
  const where = 'Abrilo en tu teléfono, en el Wi-Fi del local:'
  expect(message('network').slice(-5)).toEqual([where, link, ...code])
  // No phone opens a link to this device alone.
  const alone = ['', 'Mostrá este código en la caja:', '0000 0000 0000 0000 0000 0000 0000']
  expect(message('device')).toEqual([opening, ...promise, ...alone])
})

describe('a shared picture', () => {
  const file = new File(['x'], 'cupon.png', { type: 'image/png' })
  const shareBy = (share: () => Promise<void>, takes = true) =>
    Object.assign(navigator, { share, canShare: ({ files }: ShareData) => takes && !!files })

  test('is offered where the dialog of the system takes pictures', () => {
    expect(canSharePictures()).toBe(false)
    shareBy(async () => undefined, false)
    expect(canSharePictures()).toBe(false)
    shareBy(async () => undefined)
    expect(canSharePictures()).toBe(true)
  })

  test.each([
    ['NotAllowedError', 'refused', 'shown'],
    ['AbortError', 'closed', 'closed'],
  ] as const)('after a %s counts as %s, and a link as %s', async (name, picture, link) => {
    shareBy(() => Promise.reject(new DOMException(name, name)))
    expect(await shareBySystem({ files: [file] })).toBe(picture)
    expect(await shareLink('Café', 'https://x.example/c#a')).toBe(link)
    shareBy(async () => undefined)
    expect(await shareBySystem({ files: [file] })).toBe('shared')
    expect(await shareLink('Café', 'https://x.example/c#a')).toBe('shared')
  })
})
