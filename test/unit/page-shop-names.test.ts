import { expect, test } from 'bun:test'
import { publishName } from '../../src/client/profile.ts'
import type { EventTemplate } from '../../src/client/signer.ts'
import type { NostrEvent } from '../../src/nostr/event.ts'
import { npubOf } from '../../src/nostr/keys.ts'
import { shopColors } from '../../src/shops/color.ts'
import { shopShades } from '../../src/ui/parts/shop-shade.ts'
import { newSigner } from '../support/client.ts'
import { secondsNow } from '../support/clock.ts'
import { pretendPage } from '../support/fake-browser.ts'
import { until } from '../support/until.ts'

const stored = newSigner()
const profiled = newSigner()
const nameless = newSigner()
const turning = newSigner()
const page = pretendPage(() => undefined)
const kept = npubOf(newSigner().pubkey)
page.texts.set('cuponera:merchants', JSON.stringify({ [kept]: { name: 'De antes', color: 'x' } }))
const asked: string[] = []
const profileOf = (signer: ReturnType<typeof newSigner>, fields: object, at = secondsNow()) =>
  signer.sign({ kind: 0, created_at: at, tags: [], content: JSON.stringify(fields) })
page.state.answer = (path, body: never) => {
  asked.push(path)
  if (path === `/api/shops/${kept}`) return Response.error()
  if (path === `/api/shops/${npubOf(stored.pubkey)}`) {
    return Response.json({ npub: '', name: 'Café Luna', color: 'blue' })
  }
  if (path.startsWith('/api/shops/')) return Response.json({ npub: '', name: null, color: null })
  const { authors } = body as { authors: string[] }
  if (authors[0] === profiled.pubkey) return Response.json([profileOf(profiled, { name: 'Sol' })])
  if (authors[0] === turning.pubkey) {
    return Response.json([profileOf(turning, { name: 'Sol\u202eanuL' })])
  }
  // Another key signed this one.
  return Response.json([profileOf(stored, { name: 'Impostor' })])
}
const { keepLook, knownColor, knownName, merchantName } = await import(
  '../../src/ui/state/merchant-names.ts'
)

test('a shop goes by the name that it gave to the service, else by that of its profile', async () => {
  for (const [signer, name] of [
    [stored, 'Café Luna'],
    [profiled, 'Sol'],
  ] as const) {
    const npub = npubOf(signer.pubkey)
    expect(merchantName(npub)).toBe('un negocio sin nombre')
    await until(name, () => knownName(npub) === name)
  }
  expect(knownColor(npubOf(stored.pubkey))).toBe('blue')
  // One question of a page for each shop, and none to the relays where the service knows the name.
  expect(asked.filter((path) => path === '/nostr/fetch')).toHaveLength(1)
  expect(new Set(asked).size).toBe(asked.length)
})

test('a shop without a name shows no key, whatever others signed', async () => {
  for (const { pubkey } of [nameless, turning]) {
    const npub = npubOf(pubkey)
    const before = asked.length
    expect(merchantName(npub)).toBe('un negocio sin nombre')
    await until('an answer', () => asked.length === before + 2)
    await Bun.sleep(0)
    expect(merchantName(npub)).toBe('un negocio sin nombre')
  }
})

test('an answer that comes after a change on this page does not bring the old name back', async () => {
  const npub = npubOf(newSigner().pubkey)
  const late = Promise.withResolvers<void>()
  const before = page.state.answer
  page.state.answer = async (path, body, init) => {
    if (path !== `/api/shops/${npub}`) return before(path, body, init)
    await late.promise
    return Response.json({ name: 'De antes', color: null })
  }
  expect(knownName(npub)).toBeNull()
  keepLook(npub, { name: 'De ahora', color: 'red', picture: null })
  late.resolve()
  await Bun.sleep(5)
  expect([knownName(npub), knownColor(npub)]).toEqual(['De ahora', 'red'])
  page.state.answer = before
})

test('a name is kept on the device: it shows at once, and while nothing answers', async () => {
  expect(knownName(kept)).toBe('De antes')
  expect(knownColor(kept)).toBeNull()
  const npub = npubOf(stored.pubkey)
  const look = JSON.parse(page.texts.get('cuponera:merchants') ?? '{}')[npub]
  expect(look).toEqual({ name: 'Café Luna', color: 'blue', picture: null })
})

test('a profile with a new name keeps every other field, and is newer than the one before', async () => {
  const now = secondsNow()
  const fields = { name: 'Sol', display_name: 'El Sol', about: 'pan', lud16: 'sol@x.example' }
  const found = [profileOf(profiled, {}, now), profileOf(profiled, fields, now + 5)]
  type Case = { fresh: boolean; found: typeof found; silent?: boolean; name?: string }
  const publish = async ({ fresh, found, silent = false, name = 'Luna' }: Case) => {
    const published: NostrEvent[] = []
    const headers = silent ? { 'X-Nostr-Relays': 'answered=1 silent=1' } : {}
    const before = page.state.answer
    page.state.answer = (path, body: never) => {
      if (path === '/nostr/fetch') return Response.json(found, { headers })
      published.push(body)
      return new Response(null, { status: 202 })
    }
    const signer = {
      ...profiled,
      kind: 'local' as const,
      sign: async (one: EventTemplate) => profiled.sign(one),
    }
    await publishName(signer, name, { fresh, now })
    page.state.answer = before
    return published.map(({ content, created_at }) => ({ at: created_at, ...JSON.parse(content) }))
  }
  const merged = { ...fields, at: now + 6, name: 'Luna', display_name: 'Luna' }
  expect(await publish({ fresh: false, found })).toEqual([merged])
  expect(await publish({ fresh: true, found })).toEqual([merged])
  expect(await publish({ fresh: true, found: [] })).toEqual([{ at: now, name: 'Luna' }])
  // Its other fields would be lost.
  expect(await publish({ fresh: false, found: [] })).toEqual([])
  expect(await publish({ fresh: false, found, silent: true })).toEqual([])
  expect(await publish({ fresh: false, found, name: 'El Sol' })).toEqual([])
})

test('white text is legible on both ends of every colour of a shop', () => {
  const channel = (value: number) =>
    value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  const contrast = (hex: string) => {
    const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) =>
      channel(Number.parseInt(hex.slice(at, at + 2), 16) / 255),
    )
    return 1.05 / (0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05)
  }
  const dim = shopColors.filter((color) => shopShades[color].some((hex) => contrast(hex) < 5))
  expect(dim).toEqual([])
})
