import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { limits } from '../../src/base/limits.ts'
import { npubOf } from '../../src/nostr/keys.ts'
import {
  call,
  createDefinition,
  createProof,
  type Json,
  mintOne,
  newKey,
  newSigner,
  nostrHeader,
} from '../support/client.ts'
import { startForeignService } from '../support/foreign-service.ts'
import { refuses } from '../support/refusals.ts'
import { cleanUp } from '../support/server.ts'
import {
  addAccount,
  callAs,
  newHolder,
  openFront,
  openInbox,
  planShop,
  runShop,
  type Shop,
} from '../support/shops.ts'
import { until } from '../support/until.ts'

const foreign = startForeignService()
const merchant = newSigner()
const ana = newHolder('ana')
const eva = newHolder('eva')
/** Ana's shop, and Eva's. */
let here: Shop
let there: Shop
let token: string
let couponId: string

beforeAll(async () => {
  const [first, second] = [await planShop('shop.test'), await planShop('localhost')]
  first.env.TRUSTED_PROXIES = '127.0.0.1'
  here = await runShop(first, { knows: [second, foreign] })
  there = await runShop(second, { knows: [first, foreign] })
  await addAccount(here.dataDir, ana.name, ana.signer.pubkey)
  await addAccount(there.dataDir, eva.name, eva.signer.pubkey)
  const path = '/api/auth/session'
  const session = await callAs(here.server.url, here.url, path, {
    method: 'POST',
    body: {},
    signer: merchant,
  })
  token = session.json.token
  couponId = await createDefinition(here.server.url, token)
})
afterAll(async () => {
  foreign.stop()
  here.front.close()
  there.front.close()
  await cleanUp()
})

const mint = () => mintOne(here.server.url, token, couponId)

async function transfer(body: Json): Promise<Json> {
  const answer = await call(here.server.url, '/api/transfer', { body })
  expect(answer.status).toBe(200)
  return answer.json
}

async function statusOf(nonce: string): Promise<string> {
  return (await call(here.server.url, '/api/coupons/preview', { body: { nonce } })).json.status
}

const evaAt = () => `eva@${there.host}`
const anaAt = () => `ana@${here.host}`

describe('a voucher of this service', () => {
  test('reaches a name elsewhere, with and without its event, in any case', async () => {
    for (const given of [true, false]) {
      const { nonce, voucher } = await mint()
      const to = given ? evaAt() : ` EVA@${there.host.toUpperCase()} `
      const sent = await transfer({ nonce, to, comment: 'Hola', ...(given && { voucher }) })
      expect(sent).toEqual({ status: 'SENT' })
      expect(await statusOf(nonce)).toBe('refreshed')
      const [held] = await openInbox(there.server.url, eva, there.url)
      // Where it is redeemed, and so where its holder asks for its state.
      const service = { npub: npubOf(here.manager), url: here.url }
      expect(held).toMatchObject({ status: 'unknown', comment: 'Hola', couponId, service })
      const asked =
        here.server.url + `${held?.service.url}/api/coupons/preview`.slice(here.url.length)
      const body = { nonce: held?.nonce }
      expect((await call(asked, '', { body })).json.status).toBe('minted')
      expect(await statusOf(held?.nonce ?? '')).toBe('minted')
      // The minted event, whether the sender included it or not.
      const { tags, content, created_at } = held?.voucher ?? {}
      expect(JSON.parse(content ?? '').coupon).toEqual(JSON.parse(voucher.content).coupon)
      expect(tags?.length).toBe(voucher.tags.length)
      expect(created_at).toBeGreaterThanOrEqual(voucher.created_at)
    }
  })

  test('reaches a name of the same service without leaving it', async () => {
    const { nonce } = await mint()
    here.front.target = 'http://127.0.0.1:1'
    expect(await transfer({ nonce, to: anaAt() })).toEqual({ status: 'SENT' })
    here.front.target = here.server.url
    const [held] = await openInbox(here.server.url, ana, here.url)
    expect(held).toMatchObject({ status: 'minted', service: null })
    expect(await statusOf(held?.nonce ?? '')).toBe('minted')
  })

  test('that was sent before is sent again to the same name, and is spent for all others', async () => {
    const remote = await mint()
    const local = await mint()
    expect((await transfer({ nonce: remote.nonce, to: evaAt() })).status).toBe('SENT')
    expect((await transfer({ nonce: local.nonce, to: anaAt() })).status).toBe('SENT')
    const { nonce, voucher } = remote
    expect((await transfer({ nonce, voucher, to: evaAt() })).status).toBe('SENT')
    expect((await transfer({ nonce: local.nonce, to: anaAt() })).status).toBe('SENT')
    const again = { nonce: local.nonce, voucher: local.voucher }
    expect((await transfer({ ...again, to: anaAt() })).status).toBe('SENT')
    for (const to of [evaAt(), `nobody@${there.host}`, `nobody@${here.host}`, 'x@127.0.0.9:1']) {
      const other = to === evaAt() ? again : { nonce, voucher }
      expect(await transfer({ ...other, to })).toMatchObject({
        status: 'MOVED',
        code: 'voucher-refreshed',
      })
    }
  })

  test('is sent once, however many requests send it at the same moment', async () => {
    for (const to of [evaAt(), anaAt()]) {
      const { nonce, voucher } = await mint()
      const sent = await Promise.all(Array(5).fill({ nonce, voucher, to }).map(transfer))
      expect(sent).toEqual(Array(5).fill({ status: 'SENT' }))
    }
  })
})

describe('the nonce has not left', () => {
  const notSent = async (body: Json, code: string) => {
    const sent = await transfer(body)
    expect(sent).toMatchObject({ status: 'NOT_SENT', code })
    expect(sent.reason).toMatch(/\.$/)
  }

  test('when its sender has too many open transfers to a slow host, and others pass', async () => {
    const { promise, resolve } = Promise.withResolvers<Response>()
    const slow = await openDoor({ take: () => promise.then((answer) => answer.clone()) })
    const { nonce } = await mint()
    const { takenMax, waitingMax } = limits.leavingSlots.of.senderAtHost
    const sendFrom = async (address: string, to: string) => {
      const headers = { 'X-Forwarded-For': address }
      const { json } = await call(here.server.url, '/api/transfer', {
        body: { nonce, to },
        headers,
      })
      return json
    }
    const one = Array.from({ length: takenMax + waitingMax + 1 }, () =>
      sendFrom('203.0.113.1', slow.address),
    )
    expect(await Promise.race(one)).toMatchObject({ status: 'NOT_SENT', code: 'overloaded' })
    await until('asked', async () => slow.offered.length === takenMax)
    const quick = await openDoor({})
    // Behind the same address, too, and to the same host from another.
    expect(await sendFrom('203.0.113.1', quick.address)).toEqual({ status: 'SENT' })
    expect(await sendFrom('203.0.113.2', quick.address)).toEqual({ status: 'SENT' })
    const elsewhere = sendFrom('203.0.113.2', slow.address)
    await until('asked', async () => slow.offered.length === takenMax + 1)
    resolve(Response.json({ status: 'ACCEPTED' }))
    expect(await elsewhere).toEqual({ status: 'SENT' })
    const sent = (await Promise.all(one)).filter(({ status }) => status === 'SENT')
    expect(sent.length).toBeGreaterThanOrEqual(takenMax)
    slow.stop()
    quick.stop()
  })

  test('when the address does not exist, or its owner takes none', async () => {
    const { nonce } = await mint()
    const off = { method: 'PUT', body: { allowVouchers: false }, signer: eva.signer }
    await notSent({ nonce, to: `nobody@${there.host}` }, 'address-unknown')
    await notSent({ nonce, to: `nobody@${here.host}` }, 'vouchers-not-taken')
    await notSent({ nonce, to: 'eva@127.0.0.9:1' }, 'address-silent')
    await callAs(there.server.url, there.url, '/api/wallet/settings', off)
    // She has no wallet either: the address belongs to nobody.
    await notSent({ nonce, to: evaAt() }, 'address-unknown')
    const on = { ...off, body: { allowVouchers: true } }
    await callAs(there.server.url, there.url, '/api/wallet/settings', on)
    expect(await statusOf(nonce)).toBe('minted')
  })

  test('when the answer of the address is invalid', async () => {
    const { nonce } = await mint()
    const answers: [answer: unknown, code: string][] = [
      [{ tag: 'payRequest', callback: 'https://localhost:1/' }, 'vouchers-not-taken'],
      [{ callback: 'https://localhost:1/', allowVouchers: 'true' }, 'vouchers-not-taken'],
      [{ allowVouchers: true }, 'vouchers-not-taken'],
      [{ allowVouchers: true, callback: 7 }, 'vouchers-not-taken'],
      [{ allowVouchers: true, callback: 'x' }, 'vouchers-not-taken'],
      [{ allowVouchers: true, callback: 'http://localhost/' }, 'address-silent'],
      [{ allowVouchers: true, callback: 'https://a:b@localhost/' }, 'address-silent'],
      [{ allowVouchers: true, callback: 'https://localhost:1/' }, 'address-silent'],
      [{ status: 'ERROR', reason: 'no' }, 'address-unknown'],
      [[], 'address-silent'],
      ['x'.repeat(70_000), 'address-silent'],
    ]
    for (const [answer, code] of answers) {
      const door = await openDoor({ pay: () => Response.json(answer) })
      await notSent({ nonce, to: door.address }, code)
      expect(door.offered).toEqual([])
      door.stop()
    }
    expect(await statusOf(nonce)).toBe('minted')
  })

  test('when the voucher is not open any more, or unknown', async () => {
    const [claimed, voided] = [await mint(), await mint()]
    await call(here.server.url, '/api/coupons/claim', { body: { nonce: claimed.nonce } })
    const path = `/api/coupons/${couponId}/mints/${voided.nonce}`
    await call(here.server.url, path, { method: 'DELETE', token })
    for (const to of [evaAt(), anaAt()]) {
      await notSent({ nonce: claimed.nonce, to }, 'voucher-claimed')
      await notSent({ nonce: voided.nonce, to }, 'voucher-cancelled')
      await notSent({ nonce: 'A'.repeat(22), to }, 'voucher-unknown')
    }
  })
})

/** A foreign service, with a name that takes vouchers. */
async function openDoor(says: {
  pay?: () => Response
  take?: (offer: Json) => Response | Promise<Response>
}) {
  const offered: Json[] = []
  const inner = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      if (request.method === 'GET') {
        const callback = `${url}/take`
        return says.pay?.() ?? Response.json({ tag: 'payRequest', callback, allowVouchers: true })
      }
      const offer = (await request.json()) as Json
      offered.push(offer)
      return says.take?.(offer) ?? Response.json({ status: 'ACCEPTED' })
    },
  })
  const front = await openFront()
  front.target = inner.url.href
  const url = `https://shop.test:${front.port}`
  return {
    address: `somebody@shop.test:${front.port}`,
    offered,
    front,
    stop() {
      front.close()
      void inner.stop(true)
    },
  }
}

describe('the nonce has left', () => {
  const error = (reason: unknown) => () => Response.json({ status: 'ERROR', reason, code: 'x' })
  const refusals: [what: string, take: () => Response | Promise<Response>, reason: RegExp][] = [
    ['refuses', error('Hoy no.'), /^Hoy no\.$/],
    ['refuses without a word', error(undefined), /no lo aceptó/],
    ['refuses with signs nobody sees', error('a\u0007\u202eb\u2028c'), /^a b c$/],
    ['refuses with nothing else', error('\u202e\n'), /no lo aceptó/],
    ['refuses with a page', error('x'.repeat(301)), /^x{300}$/],
    ['fails', () => new Response('x', { status: 500 }), /no lo aceptó/],
    [
      'accepts with another status',
      () => Response.json({ status: 'ACCEPTED' }, { status: 202 }),
      /./,
    ],
    ['says something else', () => Response.json({ status: 'accepted' }), /no lo aceptó/],
    ['sends it elsewhere', () => Response.redirect('https://shop.test:1/', 308), /no lo aceptó/],
    ['says far too much', () => new Response('x'.repeat(20_000)), /no lo aceptó/],
  ]
  test.each(refusals)('to a service that %s: it may still be accepted', async (_, take, reason) => {
    const door = await openDoor({ take })
    const { nonce } = await mint()
    const sent = await transfer({ nonce, to: door.address })
    expect(sent).toMatchObject({ status: 'UNKNOWN', code: 'transfer-unclear' })
    expect(sent.reason).toMatch(reason)
    expect(door.offered).toHaveLength(1)
    expect(await statusOf(nonce)).toBe('minted')
    door.stop()
  })

  test('with all the fields that the other side needs, and no other', async () => {
    const door = await openDoor({})
    const { nonce, voucher } = await mint()
    expect(await transfer({ nonce, to: door.address })).toEqual({ status: 'SENT' })
    const [offer] = door.offered
    expect(Object.keys(offer ?? {})).toEqual(['action', 'nonce', 'voucher'])
    expect(offer).toMatchObject({ action: 'voucher', nonce })
    const { sig, ...signed } = voucher
    expect(offer?.voucher).toMatchObject(signed)
    await transfer({ nonce: (await mint()).nonce, to: door.address, comment: 'Hola' })
    expect(door.offered[1]?.comment).toBe('Hola')
    door.stop()
  })

  test('to a service that takes it and denies it: it has moved', async () => {
    const door = await openDoor({
      async take({ nonce }) {
        const headers = { 'Idempotency-Key': newKey() }
        await call(here.server.url, '/api/coupons/refresh', { body: { nonce }, headers })
        return Response.json({ status: 'ERROR', reason: 'No.' })
      },
    })
    const { nonce } = await mint()
    const sent = await transfer({ nonce, to: door.address })
    expect(sent).toMatchObject({ status: 'MOVED', code: 'voucher-refreshed' })
    door.stop()
  })

  test('when the connection breaks before an answer', async () => {
    const door = await openDoor({ take: () => new Promise(() => undefined) })
    const { nonce } = await mint()
    const sending = transfer({ nonce, to: door.address })
    await until('it is offered', () => door.offered.length > 0)
    door.stop()
    expect(await sending).toMatchObject({ status: 'UNKNOWN', code: 'transfer-unclear' })
  })
})

describe('a voucher of another service', () => {
  test('of a known service is sent on, to a name here or elsewhere', async () => {
    for (const to of [evaAt(), anaAt()]) {
      const { nonce, voucher } = foreign.mint()
      expect(await transfer({ nonce, voucher, to })).toEqual({ status: 'SENT' })
    }
    expect((await openInbox(here.server.url, ana, here.url))[0]?.status).toBe('unknown')
  })

  test('is looked up by its preview when somebody refused it', async () => {
    for (const [said, status] of [
      ['refreshed', 'MOVED'],
      ['minted', 'UNKNOWN'],
      ['claimed', 'UNKNOWN'],
    ] as const) {
      const door = await openDoor({ take: () => Response.json({ status: 'ERROR' }) })
      const { nonce, voucher } = foreign.mint()
      foreign.previews.set(nonce, said)
      expect((await transfer({ nonce, voucher, to: door.address })).status).toBe(status)
      door.stop()
    }
  })

  test('is reported as unchanged when a name here cannot swap it', async () => {
    const asked = foreign.asked.length
    const gone = foreign.mint()
    foreign.replies.set(gone.nonce, () => Response.json({ error: 'x' }, { status: 409 }))
    const to = anaAt()
    const unclear = { nonce: gone.nonce, voucher: gone.voucher, to }
    expect(await transfer(unclear)).toMatchObject({ status: 'UNKNOWN', code: 'voucher-refreshed' })
    foreign.previews.set(gone.nonce, 'refreshed')
    expect(await transfer(unclear)).toMatchObject({ status: 'MOVED' })
    const slow = foreign.mint()
    foreign.replies.set(slow.nonce, () => new Response('x', { status: 503 }))
    expect(await transfer({ nonce: slow.nonce, voucher: slow.voucher, to })).toMatchObject({
      status: 'UNKNOWN',
      code: 'transfer-pending',
    })
    const nobody = foreign.mint()
    const body = { nonce: nobody.nonce, voucher: nobody.voucher, to: `nobody@${here.host}` }
    expect(await transfer(body)).toMatchObject({ status: 'NOT_SENT', code: 'vouchers-not-taken' })
    expect(foreign.asked.slice(asked).some(({ nonce }) => nonce === nobody.nonce)).toBe(false)
    foreign.replies.delete(slow.nonce)
  })
})

describe('the request', () => {
  const to = 'eva@other.example'
  const nonce = 'A'.repeat(22)
  const bad: [what: string, body: unknown, code: string][] = [
    ['is no JSON', '{', 'body-invalid'],
    ['has no nonce', { to }, 'field-invalid'],
    ['has a nonce that is none', { nonce: 'x', to }, 'nonce-invalid'],
    ['has nobody to go to', { nonce }, 'field-invalid'],
    ...[
      ...[
        '.@other.example',
        '..@other.example',
        '',
        'eva',
        '@',
        'eva@',
        '@other.example',
        'eva@@other.example',
        'eva@b@other.example',
      ],
      ...[
        'e va@other.example',
        'eva@other.example/x',
        'eva@other.example?x',
        'eva@other.example#x',
      ],
      ...['eva@user:p@other.example', 'eva@other.example.', 'eva@[::1', 'eva@other.example:99999'],
      ...['eva@other.exa\u0000mple', 'éva@other.example', `${'e'.repeat(65)}@other.example`],
      `eva@${'o'.repeat(300)}`,
    ].map((text): [string, unknown, string] => [
      `goes to ${JSON.stringify(text).slice(0, 40)}`,
      { nonce, to: text },
      'field-invalid',
    ]),
    ['has a comment that is too long', { nonce, to, comment: 'x'.repeat(201) }, 'field-invalid'],
    ['has a voucher that is none', { nonce, to, voucher: {} }, 'voucher-invalid'],
  ]
  test.each(bad)('that %s is refused', async (_, body, code) => {
    const answer = await call(here.server.url, '/api/transfer', { body })
    expect([answer.status, answer.json.status, answer.json.code]).toEqual([400, 'ERROR', code])
  })

  test('for a voucher of an unknown service, or with another nonce, is refused', async () => {
    const { nonce: own, voucher } = await mint()
    const { kind, created_at, tags, content } = voucher
    const strange = newSigner().sign({ kind, created_at, tags, content })
    const ask = (body: Json) => call(here.server.url, '/api/transfer', { body })
    const unknown = await ask({ nonce: own, voucher: strange, to })
    expect([unknown.status, unknown.json.code]).toEqual([400, 'service-unknown'])
    const wrong = await ask({ nonce: (await mint()).nonce, voucher, to })
    expect([wrong.status, wrong.json.code]).toEqual([400, 'voucher-invalid'])
  })
})

describe('the routes of the holder', () => {
  const as = (method: string, path: string, body?: Json) => {
    const options = { method, ...(body && { body }), signer: ana.signer }
    return callAs(here.server.url, here.url, path, options)
  }

  test('list his own vouchers only, and delete one', async () => {
    const { nonce } = await mint()
    await transfer({ nonce, to: anaAt() })
    const [first] = (await as('GET', '/api/wallet/vouchers')).json.vouchers
    const path = `/api/wallet/vouchers/${first.id}`
    const stranger = { method: 'DELETE', signer: newSigner() }
    const others = await callAs(here.server.url, here.url, path, stranger)
    expect([others.status, others.json.code]).toEqual([404, 'held-unknown'])
    expect((await as('DELETE', path)).json).toEqual({ removed: true })
    expect((await as('DELETE', path)).json.code).toBe('held-unknown')
    expect((await as('DELETE', '/api/wallet/vouchers/x')).json.code).toBe('held-unknown')
    const { vouchers } = (await as('GET', '/api/wallet/vouchers')).json
    expect(vouchers.map(({ id }: Json) => id)).not.toContain(first.id)
    const nobody = { signer: newSigner() }
    const none = await callAs(here.server.url, here.url, '/api/wallet/vouchers', nobody)
    expect(none.json).toEqual({ vouchers: [] })
  })

  test('refuse unsigned and invalid requests, in this order', async () => {
    const settings = '/api/wallet/settings'
    const put = (body: unknown) => ({ method: 'PUT', body })
    const open = () => call(here.server.url, settings, put({ allowVouchers: 1 }))
    await refuses(here.server, open, 401, 'auth-missing', { reason: 'missing' })
    const wrong: [body: unknown, status: number, code: string, field?: string][] = [
      ['[]', 400, 'body-invalid'],
      [{}, 400, 'field-invalid', 'allowVouchers'],
      [{ allowVouchers: 'true' }, 400, 'field-invalid', 'allowVouchers'],
      [{ allowVouchers: true }, 404, 'account-unknown'],
    ]
    const stranger = newSigner()
    for (const [body, status, code, field] of wrong) {
      const text = typeof body === 'string' ? body : JSON.stringify(body)
      const proof = createProof(stranger, `${here.url}${settings}`, { method: 'PUT', body: text })
      const headers = { Authorization: nostrHeader(proof) }
      const ask = () => call(here.server.url, settings, { method: 'PUT', body: text, headers })
      await refuses(here.server, ask, status, code, field ? { field } : {})
    }
    expect((await as('GET', settings)).json).toEqual({ allowVouchers: true })
    expect((await as('PUT', settings, { allowVouchers: false })).json).toEqual({
      allowVouchers: false,
    })
    expect((await as('GET', settings)).json).toEqual({ allowVouchers: false })
    await as('PUT', settings, { allowVouchers: true })
  })
})
