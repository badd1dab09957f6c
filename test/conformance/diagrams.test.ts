/** The diagrams of the reference, arrow by arrow, on real services. */
import { afterAll, expect, test } from 'bun:test'
import {
  call,
  createDefinition,
  type Json,
  mintOne,
  newSigner,
  openSession,
  withKey,
} from '../support/client.ts'
import { briefSeconds, secondsNow, untilSecond } from '../support/clock.ts'
import { blockWith } from '../support/printed.ts'
import { cleanUp, startServer } from '../support/server.ts'
import { addAccount } from '../support/shops.ts'

const proxies: ReturnType<typeof Bun.serve>[] = []
afterAll(async () => {
  await Promise.all(proxies.map((proxy) => proxy.stop(true)))
  await cleanUp()
})

type Way = [from: () => Promise<string>, step: (nonce: string) => Promise<string>]

test('a voucher takes each way of the diagram of its states', async () => {
  const { url } = await startServer()
  const token = await openSession(url, newSigner())
  const lasting = await createDefinition(url, token)
  const expiresAt = secondsNow() + briefSeconds
  const brief = await createDefinition(url, token, { expiresAt })
  const mint = async (couponId: string): Promise<string> =>
    (await mintOne(url, token, couponId)).nonce
  const stateOf = async (nonce: string) =>
    (await call(url, '/api/coupons/preview', { body: { nonce } })).json.status
  const burn = async (nonce: string): Promise<string> =>
    (await call(url, '/api/coupons/refresh', { body: { nonce }, ...withKey() })).json.nonce
  const voidIt = (couponId: string) => async (nonce: string) => {
    const path = `/api/coupons/${couponId}/mints/${nonce}`
    await call(url, path, { method: 'DELETE', token })
    return nonce
  }
  const claim = async (nonce: string) => {
    await call(url, '/api/coupons/claim', { body: { nonce } })
    return nonce
  }
  const refresh = async (nonce: string) => {
    await burn(nonce)
    return nonce
  }
  const old = [await mint(brief), await mint(brief)] as const
  const same = async (nonce: string) => nonce
  /** A voucher in the first state of an arrow, and the step that it tells: the nonce that is in the second one. */
  const steps: Record<string, Way> = {
    '[*] --> minted: mint': [async () => '', () => mint(lasting)],
    'minted --> claimed: claim': [() => mint(lasting), claim],
    'minted --> refreshed: refresh': [() => mint(lasting), refresh],
    'refreshed --> minted: the successor, a voucher of its own': [() => mint(lasting), burn],
    'minted --> expired: expiresAt comes': [async () => old[0], same],
    'minted --> voided: the owner voids it': [() => mint(lasting), voidIt(lasting)],
    'expired --> voided: the owner voids it': [async () => old[1], voidIt(brief)],
  }
  const [, ...arrows] = blockWith('docs/api/vouchers.md', 'stateDiagram').trim().split(/\n */)
  expect(arrows).toEqual(Object.keys(steps))
  await untilSecond(expiresAt)
  for (const arrow of arrows) {
    const [from = '', to = ''] = arrow.split(/ --> |: /)
    const [find, step] = steps[arrow] as Way
    const nonce = await find()
    if (from === 'expired') expect(await stateOf(nonce)).toBe(from)
    expect({ arrow, state: await stateOf(await step(nonce)) }).toEqual({ arrow, state: to })
  }
})

type Message = { who: string; text: string }

/** A service under an address that tells what was asked there, and what was answered. */
function openFront(who: string, told: Message[]) {
  const front = { url: '', target: '' }
  const proxy = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url)
      const body = request.method === 'GET' ? null : await request.text()
      const key = request.headers.has('idempotency-key') ? ', Idempotency-Key' : ''
      const fields = body === null ? '' : ` {${Object.keys(JSON.parse(body)).join(', ')}}`
      told.push({ who, text: `${request.method} ${pathname}${fields}${key}` })
      const real = await fetch(`${front.target}${pathname}`, {
        method: request.method,
        headers: request.headers,
        body,
      })
      const answer = await real.text()
      told.push({ who: '', text: answerOf(real.status, JSON.parse(answer)) })
      return new Response(answer, {
        status: real.status,
        headers: { 'Content-Type': 'application/json' },
      })
    },
  })
  proxies.push(proxy)
  front.url = proxy.url.origin
  return front
}

/** An answer in the words of the diagram. */
function answerOf(status: number, json: Json): string {
  if (json.callback) return `callback, allowVouchers: ${json.allowVouchers}`
  return json.nonce ? `${status}, the replacement` : json.status
}

test('a voucher travels to a name by the messages of the diagram', async () => {
  const told: Message[] = []
  const [sender, receiver, issuer] = ['S', 'R', 'I'].map((who) => openFront(who, told)) as [
    Front,
    Front,
    Front,
  ]
  // The shop of the sender has issued the voucher; others know its address for refreshes.
  const shop = await startServer({
    env: { ALLOW_PRIVATE_SERVICES: receiver.url, PUBLIC_URL: sender.url, MERCHANTS: 'open' },
  })
  const { npub } = (await call(shop.url, '/api/coupons/manager')).json
  const other = await startServer({
    env: {
      ALLOW_PRIVATE_SERVICES: issuer.url,
      PUBLIC_URL: receiver.url,
      VOUCHER_SERVICES: `${npub}|${issuer.url}/api/coupons/refresh`,
    },
  })
  sender.target = shop.url
  issuer.target = shop.url
  receiver.target = other.url
  await addAccount(other.dataDir, 'eva', newSigner().pubkey)
  const token = await openSession(shop.url, newSigner(), sender.url)
  const { nonce } = await mintOne(shop.url, token, await createDefinition(shop.url, token))
  const body = { nonce, to: `eva@${new URL(receiver.url).host}` }
  expect((await call(sender.url, '/api/transfer', { body })).json).toEqual({ status: 'SENT' })

  const diagram = blockWith('docs/api/transfers.md', 'A->>S: POST /api/transfer')
  const printed = [...diagram.matchAll(/^ *\w(-?->>)(\w): (.*)$/gm)].map(
    ([, arrow, who = '', text = '']) => ({
      who: arrow === '->>' ? who : '',
      text: text.replace('callback {', '/api/lud16/eva/cb {'),
    }),
  )
  expect(told).toEqual(printed)
})

type Front = ReturnType<typeof openFront>
