import { beforeEach, expect, test } from 'bun:test'
import { npubOf } from '../../src/nostr/keys.ts'
import { newSigner } from '../support/client.ts'
import { secondsNow } from '../support/clock.ts'
import { pretendPage } from '../support/fake-browser.ts'

const merchant = newSigner()
const npub = npubOf(merchant.pubkey)
const page = pretendPage(() => undefined)
const token = { pubkey: merchant.pubkey, kind: 'local', token: 'x', expiresAt: secondsNow() + 900 }
page.texts.set('cuponera:panel', JSON.stringify(token))
const { saveShop, startShop, syncShop, ownName, ownColor, ownLogo, unnamed, unpublished } =
  await import('../../src/ui/panel/own-shop.ts')

let stored: { name: string | null; color: string | null }
let sent: unknown[]
let answer: (body: object) => Response

beforeEach(() => {
  stored = { name: null, color: null }
  sent = []
  answer = (body) => Response.json({ npub, ...Object.assign(stored, body) })
  page.state.answer = (path, body: never) => {
    if (path === '/nostr/fetch') return Response.json([])
    if (path === `/api/shops/${npub}`) return Response.json({ npub, ...stored })
    sent.push(body)
    return answer(body)
  }
})

const refusal = (status: number, code: string) => () =>
  Response.json({ code, error: '.' }, { status })

test('a panel without a name asks for one, and no key shows', async () => {
  await syncShop()
  expect([unnamed.value, ownName()]).toEqual([true, null])
})

test('the name of a new key shows at once, and goes to the service once the key may manage', async () => {
  answer = refusal(403, 'merchant-not-allowed')
  startShop(merchant.pubkey, 'Café Luna')
  expect(ownName()).toBe('Café Luna')
  await syncShop()
  expect([stored.name, ownName()]).toEqual([null, 'Café Luna'])
  answer = (body) => Response.json({ npub, ...Object.assign(stored, body) })
  await syncShop()
  expect(sent.at(-1)).toEqual({ name: 'Café Luna' })
  expect([stored.name, unnamed.value]).toEqual(['Café Luna', false])
  // The signer is not at hand, so the profile waits without a question.
  expect(unpublished.value).toBe(true)
  const requests = sent.length
  await syncShop()
  expect(sent).toHaveLength(requests)
})

test('a change without a connection stays on the device, and goes out later with the next one', async () => {
  answer = () => Response.error()
  expect(await saveShop({ name: 'Café Sol' })).toBe(false)
  expect(await saveShop({ color: 'red' })).toBe(false)
  expect([ownName(), ownColor()]).toEqual(['Café Sol', 'red'])
  answer = (body) => Response.json({ npub, ...Object.assign(stored, body) })
  await syncShop()
  expect(stored).toEqual({ name: 'Café Sol', color: 'red' })
})

test('a refused name leaves the one before, and is not sent again', async () => {
  answer = refusal(400, 'field-invalid')
  await expect(saveShop({ name: 'x' })).rejects.toMatchObject({ code: 'field-invalid' })
  expect(ownName()).toBe('Café Sol')
  stored = { name: 'Café Sol', color: 'red' }
  await syncShop()
  expect([sent.length, ownName()]).toEqual([1, 'Café Sol'])
})

test('a logo shows at once, goes out later, and is dropped when it was not uploaded in time', async () => {
  const picture = 'ab'.repeat(32)
  const path = `/api/pictures/${picture}`
  answer = () => Response.error()
  expect(await saveShop({ picture })).toBe(false)
  expect(ownLogo()).toBe(path)
  answer = (body) => Response.json({ npub, ...Object.assign(stored, body) })
  stored = { name: 'Café Sol', color: 'red' }
  await syncShop()
  expect(stored).toMatchObject({ picture })
  expect(ownLogo()).toBe(path)
  answer = refusal(404, 'picture-unknown')
  await expect(saveShop({ picture: 'cd'.repeat(32) })).rejects.toMatchObject({
    code: 'picture-unknown',
  })
  expect(ownLogo()).toBe(path)
  answer = (body) => Response.json({ npub, ...Object.assign(stored, body) })
  expect(await saveShop({ picture: null })).toBe(true)
  expect(ownLogo()).toBeNull()
})
