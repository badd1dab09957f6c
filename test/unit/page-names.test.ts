/** Names of shops without a browser. */
import { expect, test } from 'bun:test'
import { npubOf } from '../../src/nostr/keys.ts'
import { newSigner } from '../support/client.ts'
import { pretendBrowser } from '../support/fake-browser.ts'

pretendBrowser()
const { keepLook, knownName, nameSoon } = await import('../../src/ui/state/merchant-names.ts')

/** The service answers with this shop. */
function answer(given: Promise<unknown>) {
  const ask = async () => Response.json(await given)
  Object.assign(globalThis, { fetch: ask })
}

test('a paper waits for the name of its shop, for a while', async () => {
  const shop = npubOf(newSigner().pubkey)
  const given = Promise.withResolvers<unknown>()
  answer(given.promise)
  // The page showed the shop before somebody printed.
  expect(knownName(shop)).toBeNull()
  const printed = nameSoon(shop)
  given.resolve({ npub: shop, name: 'Bar Sur', color: null })
  expect(await printed).toBe('Bar Sur')
})

test('a paper comes without a name where the look-up takes too long, and at once with a known one', async () => {
  answer(new Promise(() => {}))
  const shop = npubOf(newSigner().pubkey)
  expect(await nameSoon(shop, 1)).toBeNull()
  keepLook(shop, { name: 'Bar Sur', color: null, picture: null })
  expect(await nameSoon(shop, 2 ** 30)).toBe('Bar Sur')
})
