/** The demo passes against an honest server and notices every kind of lie. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { NostrEvent } from '../../src/nostr/event.ts'
import { npubOf } from '../../src/nostr/keys.ts'
import { type Json, newSigner } from '../support/client.ts'
import { runDemo as runHonestly } from '../support/demo.ts'
import { blockWith } from '../support/printed.ts'
import { cleanUp, startServer, type TestServer } from '../support/server.ts'

type Answer = { status: number; text: string; headers: Headers }
/** Changes an answer on its way; `times` counts the requests of that route, from 1. */
type Lie = (route: string, answer: Answer, times: number) => void

let proxy: ReturnType<typeof Bun.serve>
let server: TestServer
let lie: Lie = () => undefined
let seen = new Map<string, number>()

beforeAll(async () => {
  proxy = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: forward })
  server = await startServer({
    env: { PUBLIC_URL: proxy.url.origin, MERCHANTS: 'open', RATE_LIMIT: 'off' },
  })
})

afterAll(async () => {
  await proxy.stop(true)
  await cleanUp()
})

/** Hands a request on to the real server, and its answer back through the lie. */
async function forward(request: Request): Promise<Response> {
  const { pathname, search } = new URL(request.url)
  const headers = new Headers(request.headers)
  headers.delete('connection')
  const body = request.body === null ? null : await request.arrayBuffer()
  const { method } = request
  const real = await fetch(`${server.url}${pathname}${search}`, { method, headers, body })
  const answer = {
    status: real.status,
    text: await real.text(),
    headers: new Headers(real.headers),
  }
  const shortened = pathname
    .replace(/^\/api\/coupons$/, '/')
    .replace('/api/coupons', '')
    .replace(/[0-9a-f-]{36}/, ':id')
  const route = `${method} ${shortened.replace(/\/mints\/.+/, '/mints/:name')}`
  const times = (seen.get(route) ?? 0) + 1
  seen.set(route, times)
  lie(route, answer, times)
  answer.headers.delete('content-length')
  return new Response(answer.text, answer)
}

function runDemo(url: string, told: Lie = () => undefined) {
  lie = told
  seen = new Map()
  return runHonestly(url)
}

/** Changes the JSON of one route's answer, at its nth time (default: each). */
function inJson(route: string, change: (json: Json) => unknown, nth?: number): Lie {
  return (asked, answer, times) => {
    if (asked !== route || (nth !== undefined && nth !== times)) return
    const json = JSON.parse(answer.text)
    change(json)
    answer.text = JSON.stringify(json)
  }
}

function inStatus(route: string, nth: number, status: number): Lie {
  return (asked, answer, times) => {
    if (asked === route && times === nth) answer.status = status
  }
}

test('the demo runs the whole life of a coupon on a real server', async () => {
  const { code, output } = await runDemo(proxy.url.origin)
  expect(output).toContain('Everything as it should be')
  expect(output.match(/^✓ /gm)?.length).toBe(23)
  expect(code).toBe(0)

  // Names, bytes and the lines that are left out differ.
  const form = (line: string) => line.replace(/[\w-]{5,6}…/g, 'X…').replace(/\d+ bytes/, 'N bytes')
  const lines = output.split('\n').map(form)
  const printed = blockWith('README.md', 'The minter mints').trimEnd().split('\n').map(form)
  const places = printed.filter((line) => line !== '…').map((line) => lines.indexOf(line))
  expect(places.length).toBeGreaterThan(10)
  expect(places).not.toContain(-1)
  expect(places).toEqual(places.toSorted((a, b) => a - b))
})

test('no line of its output shows a whole nonce, token or key', async () => {
  const { output } = await runDemo(`${proxy.url.origin}/`)
  expect(output).not.toMatch(/[A-Za-z0-9_-]{22}/)
  expect(output).toContain('✓ ')
})

test('an unreachable server is reported in one line with its address and the command that starts one', async () => {
  const { code, output } = await runDemo('http://127.0.0.1:1')
  const [line, ...more] = output.split('\n').filter((one) => one.startsWith('cuponera:'))
  expect(line).toContain('no answer from http://127.0.0.1:1')
  expect(line).toContain('cuponera serve')
  expect(more).toEqual([])
  expect(code).toBe(1)
})

test('an invalid server address is reported', async () => {
  for (const text of ['127.0.0.1:3000', 'ftp://example.com', 'http://example.com/?a=1', '']) {
    const { code, output } = await runDemo(text)
    expect(output).toContain('is no address of a server')
    expect(code).toBe(1)
  }
})

test('a server that is not a Cuponera fails at the first step', async () => {
  const { code, output } = await runDemo(proxy.url.origin, (_, answer) => {
    answer.text = '<html>'
  })
  expect(output).toContain('not JSON')
  expect(code).toBe(1)
})

test('a server for listed merchants only is reported as such', async () => {
  const closed = await startServer({ env: { MERCHANTS: newSigner().pubkey } })
  const { code, output } = await runDemo(closed.url)
  expect(output).toContain('MERCHANTS')
  expect(code).toBe(1)
})

const swapped = (text: string) => (text[0] === 'a' ? 'b' : 'a') + text.slice(1)

const lies: [string, Lie, string][] = [
  [
    'another manager key',
    inJson('GET /manager', (json) => void Object.assign(json, managerOf(newSigner()))),
    'warnings',
  ],
  [
    'a manager npub of another key',
    inJson('GET /manager', (json) => (json.npub = npubOf(newSigner().pubkey))),
    'npub',
  ],
  [
    'a session for another key',
    inJson('POST /api/auth/session', (json) => (json.pubkey = newSigner().pubkey), 1),
    'session',
  ],
  [
    'a session of a day',
    inJson('POST /api/auth/session', (json) => (json.expiresAt += 43_200), 1),
    'session',
  ],
  ['a signature accepted twice', inStatus('POST /api/auth/session', 2, 200), 'status'],
  [
    'a replay without its reason',
    inJson('POST /api/auth/session', (json) => delete json.reason, 2),
    'reason',
  ],
  [
    'a changed announcement',
    inJson('PUT /discovery', (json) => (json.event.content = '{}')),
    'announcement',
  ],
  [
    'a warning about the announcement',
    inJson('PUT /discovery', (json) => (json.warnings = [])),
    'warnings',
  ],
  [
    'an announcement that was not kept',
    inJson('GET /', (json) => (json.discovery = null), 1),
    'discovery',
  ],
  [
    'a definition with another benefit',
    inJson('POST /', (json) => (json.coupon.benefit.percent = 12)),
    'benefit.percent',
  ],
  [
    'a definition without a field',
    inJson('POST /', (json) => delete json.coupon.archivedAt),
    'archivedAt',
  ],
  [
    'a minter that is another key',
    inJson('POST /minters', (json) => (json.minter.pubkey = newSigner().pubkey)),
    'minter',
  ],
  ['nothing mintable', inJson('GET /mintable', (json) => (json.coupons = [])), 'mintable'],
  ['one left too few', inJson('GET /mintable', (json) => json.coupons[0].remaining--), 'remaining'],
  [
    'a wrong signature on a voucher',
    inJson('POST /mint', (json) => (json.voucher.sig = swapped(json.voucher.sig))),
    'signature',
  ],
  [
    'a wrong event id',
    inJson('POST /mint', (json) => (json.voucher.id = swapped(json.voucher.id))),
    'id',
  ],
  ['a voucher without a nonce', inJson('POST /mint', (json) => delete json.nonce), 'nonce'],
  ['a mint answered with 201', inStatus('POST /mint', 1, 201), 'expected 200'],
  [
    'an extra field in a voucher result',
    inJson('POST /mint', (json) => (json.status = 'minted')),
    'status',
  ],
  [
    'a preview that tells too much',
    inJson('POST /preview', (json) => (json.successor = 'x')),
    'successor',
  ],
  [
    'a preview of another phase',
    inJson('POST /preview', (json) => (json.status = 'claimed')),
    'status',
  ],
  ['a refresh that keeps the nonce', keepNonce(), 'nonce'],
  [
    'a retry with other white space',
    (route, answer, times) => {
      if (route === 'POST /refresh' && times === 2) answer.text = `${answer.text} `
    },
    'bytes',
  ],
  [
    'a retry with a new signature',
    inJson('POST /refresh', (json) => (json.voucher.sig = swapped(json.voucher.sig)), 2),
    'bytes',
  ],
  ['a retry answered as fresh', inStatus('POST /refresh', 2, 201), 'expected 200'],
  ['another key that gets the answer', inStatus('POST /refresh', 3, 200), 'status'],
  ['an old nonce that redeems', inStatus('POST /claim', 1, 200), 'status'],
  [
    'a refusal with another code',
    inJson('POST /claim', (json) => (json.code = 'voucher-unknown'), 1),
    'code',
  ],
  [
    'a refusal without a sentence',
    inJson('POST /claim', (json) => (json.error = ''), 1),
    'sentence',
  ],
  [
    'a claim that was made before',
    inJson('POST /claim', (json) => (json.status = 'claimed'), 2),
    'status',
  ],
  [
    'an order that was dropped',
    inJson('POST /claim', (json) => (json.zapRequestKept = false), 2),
    'zapRequestKept',
  ],
  ['a claim with a minted voucher', claimWithMinted(), 'voucher event'],
  ['a second benefit', inJson('POST /claim', (json) => (json.status = 'success'), 3), 'status'],
  [
    'a second time of redemption',
    inJson('POST /claim', (json) => json.claimedAt++, 3),
    'claimedAt',
  ],
  [
    'another event for the second claim',
    inJson('POST /claim', (json) => (json.voucher.id = swapped(json.voucher.id)), 3),
    'id',
  ],
  [
    'a bad signature on the second claim',
    inJson('POST /claim', (json) => (json.voucher.sig = swapped(json.voucher.sig)), 3),
    'signature',
  ],
  ['a list with a voucher too few', inJson('GET /:id/mints', (json) => json.mints.pop()), 'list'],
  [
    'a list with another chain',
    inJson('GET /:id/mints', (json) => (json.mints[1].chain = json.mints[1].handle)),
    'list',
  ],
  ['no list at all', inJson('GET /:id/mints', (json) => (json.mints = null)), 'list'],
  [
    'a void that voids nothing',
    inJson('DELETE /:id/mints/:name', (json) => (json.mint.status = 'minted')),
    'voucher',
  ],
  ['a voided nonce that redeems', inStatus('POST /claim', 4, 200), 'status'],
  ['counters that do not add up', inJson('GET /', (json) => json.coupons[0].minted++, 2), 'minted'],
  ['a lost redemption', inJson('GET /', (json) => json.coupons[0].claimed--, 2), 'claimed'],
  ['a forgotten minter', inJson('GET /', (json) => (json.minters = []), 2), 'minters'],
  ['empty books', inJson('GET /redemptions', (json) => (json.redemptions = [])), 'redemptions'],
  [
    'a redemption of another amount',
    inJson('GET /redemptions', (json) => json.redemptions[0].amountMsat++),
    'amountMsat',
  ],
  [
    'a redemption of another till',
    inJson('GET /redemptions', (json) => (json.redemptions[0].claimedBy = null)),
    'claimedBy',
  ],
  [
    'a definition that is deleted with its past',
    inJson('DELETE /:id', (json) => (json.deleted = true)),
    'deleted',
  ],
  [
    'answers that a web page cannot read',
    (_, { headers }) => headers.delete('access-control-allow-origin'),
    'Access-Control-Allow-Origin',
  ],
  [
    'an answer that is no object',
    (route, answer) => {
      if (route === 'POST /claim') answer.text = 'null'
    },
    'code',
  ],
]

for (const [what, told, word] of lies) {
  test(`the demo notices ${what}`, async () => {
    const { code, output } = await runDemo(proxy.url.origin, told)
    const [last = ''] = output.split('\n').filter((line) => line.startsWith('cuponera:'))
    expect(last).toContain('the demo failed at')
    expect(last).toContain(word)
    expect(code).toBe(1)
  })
}

function managerOf({ pubkey }: { pubkey: string }) {
  return { pubkey, npub: npubOf(pubkey) }
}

function keepNonce(): Lie {
  let minted = ''
  return (route, answer) => {
    if (route === 'POST /mint') minted = answer.text
    if (route === 'POST /refresh') answer.text = minted
  }
}

function claimWithMinted(): Lie {
  let minted: NostrEvent
  return (route, answer, times) => {
    if (route === 'POST /refresh' && times === 1) minted = JSON.parse(answer.text).voucher
    if (route !== 'POST /claim' || times !== 2) return
    answer.text = JSON.stringify({ ...JSON.parse(answer.text), voucher: minted })
  }
}

// An impostor signs everything itself, so that only what is wrong inside a voucher can give it away.
const impostor = newSigner()

function signedBy(change: (event: NostrEvent) => void): Lie {
  const known = new Map<string, string>()
  return (route, answer) => {
    if (route === 'GET /manager') answer.text = JSON.stringify(managerOf(impostor))
    const json = JSON.parse(answer.text)
    // The announcement names the impostor, of which the real server warns.
    if (route === 'PUT /discovery') delete json.warnings
    if (json.voucher) {
      const event = structuredClone(json.voucher)
      change(event)
      json.voucher = impostor.sign(event)
    }
    const text = known.get(answer.text) ?? JSON.stringify(json)
    known.set(answer.text, text)
    answer.text = text
  }
}

test('an impostor that signs everything itself and changes nothing passes the demo', async () => {
  const { code, output } = await runDemo(
    proxy.url.origin,
    signedBy(() => undefined),
  )
  expect(output).toContain('Everything as it should be')
  expect(code).toBe(0)
})

const inside = (change: (content: Json) => unknown) => (event: NostrEvent) => {
  const content = JSON.parse(event.content)
  change(content)
  event.content = JSON.stringify(content)
}

const forgeries: [string, (event: NostrEvent) => unknown][] = [
  ['another kind', (event) => (event.kind = 20_403)],
  ['another time', (event) => (event.created_at -= 3600)],
  ['tags in another order', (event) => event.tags.reverse()],
  ['a tag too many', (event) => event.tags.push(['t', 'x'])],
  ['no expiration', (event) => event.tags.pop()],
  ['another phase in its tag', (event) => (event.tags[3] = ['phase', 'voided'])],
  ['another owner', (event) => (event.tags[1] = ['p', impostor.pubkey])],
  ['another coupon', (event) => (event.tags[2] = ['coupon', 'x'])],
  ['white space in its content', (event) => (event.content = ` ${event.content}`)],
  ['another version in its content', inside((content) => (content.v = 2))],
  ['another nonce in its content', inside((content) => (content.nonce = 'x'))],
  ['another benefit in its content', inside((content) => (content.coupon.percent = 99))],
  ['another phase in its content', inside((content) => (content.phase = 'voided'))],
  ['another expiry in its content', inside((content) => content.expiresAt++)],
  ['an image that is null', inside((content) => (content.image = null))],
]

for (const [what, change] of forgeries) {
  test(`the demo notices a well-signed voucher with ${what}`, async () => {
    const { code, output } = await runDemo(
      proxy.url.origin,
      signedBy((event) => void change(event)),
    )
    expect(output).toContain('the demo failed at "The minter mints')
    expect(code).toBe(1)
  })
}
