import { expect, test } from 'bun:test'
import { whatsappLink } from '../../src/ui/browser/share.ts'

test('a message for WhatsApp keeps whole characters, and leaves out half an emoji', () => {
  const link = whatsappLink('Tacos \ud83c & ñandú 🌮\nhttps://x.example/c#a')
  expect(new URL(link).searchParams.get('text')).toBe('Tacos  & ñandú 🌮\nhttps://x.example/c#a')
})
