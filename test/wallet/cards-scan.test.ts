/** Taps: GET /card/scan. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { limits } from '../../src/base/limits.ts'
import {
  activateCard,
  asking,
  cardEnv,
  cardEvent,
  delegationOf,
  initCard,
  manager,
  masterKey,
  newCard,
  newHolder,
  newUid,
  scanPath,
  tapQuery,
} from '../support/cards.ts'
import { type Answer, type CallOptions, call, newSigner } from '../support/client.ts'
import { briefSeconds, secondsNow, untilSecond } from '../support/clock.ts'
import { damage } from '../support/database.ts'
import { createEvent } from '../support/events.ts'
import { cpuSeconds } from '../support/process-figures.ts'
import { startRacers } from '../support/race.ts'
import { callRaw } from '../support/raw.ts'
import { readRows } from '../support/refusals.ts'
import { cleanUp, startServer, type TestServer } from '../support/server.ts'

let server: TestServer
const racers = startRacers(4)

beforeAll(async () => {
  const limits = 'Por pago;;PESO;4000;0:Por día;;PESO;5000;86400:En sats;;BTC;700000;0'
  server = await startServer({
    env: { ...cardEnv, DEFAULT_LIMITS: limits, RATE_LIMIT: 'off' },
  })
})
afterAll(async () => {
  await racers.stop()
  await cleanUp()
})

const scan = (uid: string, counter: number, options: CallOptions = {}) =>
  call(server.url, scanPath(uid, counter), options)

/** Give a key tokens: a start event of their issuer. */
async function issue(to: string, amount: number): Promise<void> {
  const tags = [
    ['p', manager.pubkey],
    ['p', to],
    ['t', 'internal-transaction-start'],
  ]
  const content = JSON.stringify({ tokens: { PESO: amount } })
  const body = createEvent({ kind: 1112, signer: manager, tags, content })
  expect((await call(server.url, '/nostr/publish', { body })).status).toBe(202)
}

/** A refusal that changes nothing but, at most, the counter of a card. */
async function refuses(ask: () => Promise<Answer>, status: number, code: string): Promise<void> {
  const rows = async () => {
    const { cards = [], ...rest } = await readRows(server.dataDir)
    return { ...rest, cards: cards.map((card) => ({ ...(card as object), counter: 0 })) }
  }
  const before = await rows()
  const { status: got, json } = await ask()
  expect({ status: got, envelope: json?.status, code: json?.code }).toEqual({
    status,
    envelope: 'ERROR',
    code,
  })
  expect(json.reason).toMatch(/^\S.*\.$/)
  expect(await rows()).toEqual(before)
}

describe('a tap', () => {
  test('of a card is answered as LUD-03 demands, within balance and limits', async () => {
    const { uid } = await newCard(server)
    const { status, json, headers } = await scan(uid, 1)
    expect(status).toBe(200)
    expect(json).toEqual({
      tag: 'withdrawRequest',
      callback: `${server.url}/card/pay`,
      k1: expect.stringMatching(/^[\w-]{22}$/),
      defaultDescription: 'Pago con tarjeta',
      minWithdrawable: 0,
      // There is no BTC in this ledger.
      maxWithdrawable: 0,
    })
    expect(headers.get('access-control-allow-origin')).toBe('*')
    const { card_scans: scans = [] } = await readRows(server.dataDir)
    expect(scans.at(-1)).toMatchObject({ form: 'standard', state: 'free' })
    expect(JSON.stringify(await readRows(server.dataDir))).not.toContain(json.k1)
  })

  test('with a Host that no URL can hold gets a callback to the listening address', async () => {
    const { uid } = await newCard(server)
    for (const [at, host] of ['[x', '%%%', 'x:99999'].entries()) {
      const { status, json } = await callRaw(server.url, { target: scanPath(uid, at + 1), host })
      expect({ host, status, callback: json.callback }).toEqual({
        host,
        status: 200,
        callback: `${server.url}/card/pay`,
      })
    }
  })

  test('of a till of this federation gets every token, or those that it names', async () => {
    const { uid, holder } = await newCard(server)
    const peso = async (counter: number, more = '') =>
      (await scan(uid, counter, asking('extendedScan', more))).json
    const none = { minWithdrawable: 0, maxWithdrawable: 0 }
    expect((await peso(1)).tokens).toEqual({ PESO: none, BTC: none })
    await issue(holder.pubkey, 1500)
    expect(await peso(2, ', tokens=PESO:OTRO')).toEqual({
      tag: 'laWallet:withdrawRequest',
      callback: `${server.url}/card/pay`,
      k1: expect.stringMatching(/^[\w-]{22}$/),
      defaultDescription: 'Pago con tarjeta',
      tokens: { PESO: { minWithdrawable: 1, maxWithdrawable: 1500 } },
    })
    await issue(holder.pubkey, 90_000)
    expect((await peso(3)).tokens.PESO.maxWithdrawable).toBe(4000)
    const headers = {
      'X-LaWallet-Action': 'extendedScan',
      'X-LaWallet-Param': 'federationId=LOCALHOST',
    }
    expect((await scan(uid, 4, { headers })).json.tag).toBe('laWallet:withdrawRequest')
  })

  test('that names one token repeatedly reads it once', async () => {
    const rows = Array.from({ length: limits.cardLimitsMax }, (_, at) => `${at};;PESO;9;${at + 9}`)
    const env = { ...cardEnv, DEFAULT_LIMITS: rows.join(':'), RATE_LIMIT: 'off' }
    const other = await startServer({ env })
    const { uid } = await newCard(other)
    const cost = async (counter: number, token: string) => {
      const before = cpuSeconds(other.pid) * 1000
      const named = asking('extendedScan', `, tokens=PESO:${`${token}:`.repeat(2900)}`)
      const { json } = await call(other.url, scanPath(uid, counter), named)
      expect(Object.keys(json.tokens)).toEqual(['PESO'])
      return cpuSeconds(other.pid) * 1000 - before
    }
    await cost(1, 'OTRO')
    const usual = await cost(2, 'OTRO')
    // Twenty limits of each of 2900 took 130 ms.
    expect(Math.min(await cost(3, 'PESO'), await cost(4, 'PESO'))).toBeLessThan(usual + 80)
  })

  test('of a till of another federation gets the plain LUD-03 answer', async () => {
    const { uid } = await newCard(server)
    const headers = { 'X-LaWallet-Action': 'extendedScan', 'X-LaWallet-Param': 'federationId=otra' }
    expect((await scan(uid, 1, { headers })).json.tag).toBe('withdrawRequest')
    const bare = { 'X-LaWallet-Action': 'extendedScan' }
    expect((await scan(uid, 2, { headers: bare })).json.tag).toBe('withdrawRequest')
  })

  test('names the holder of the card and his payment address', async () => {
    const { uid, holder } = await newCard(server)
    expect((await scan(uid, 1, asking('identityQuery'))).json).toEqual({
      tag: 'laWallet:identityQuery',
      accountPubKey: holder.pubkey,
    })
    await refuses(() => scan(uid, 2, asking('payRequest')), 404, 'pay-request-unknown')
    const lud16 = {
      tag: 'payRequest',
      callback: 'https://wallet.example/cb',
      minSendable: 1000,
      maxSendable: 5000,
      metadata: '[["text/identifier","ana@wallet.example"],["text/plain","Ana"]]',
    }
    await damage(
      server.dataDir,
      `INSERT INTO accounts (uuid, name, pubkey, lud16, created_by, created_at) VALUES
       ('${crypto.randomUUID()}', 'ana', x'${holder.pubkey}', '${JSON.stringify(lud16)}', x'${holder.pubkey}', 1)`,
    )
    expect((await scan(uid, 3, asking('payRequest'))).json).toMatchObject({
      tag: 'payRequest',
      callback: `${server.url}/api/lud16/ana/cb`,
      minSendable: 1000,
      accountPubKey: holder.pubkey,
    })
  })

  test('shows the state of the card, and never a code or a delegation', async () => {
    const uid = newUid()
    const { otc } = await initCard(server, uid, { design: { name: 'Luna' } })
    const ask = async (counter: number) => (await scan(uid, counter, asking('info'))).json.info
    expect(await ask(1)).toEqual({
      status: {
        initialized: true,
        associated: true,
        activated: false,
        hasDelegation: false,
        hasIdentity: false,
      },
      ntag424: {
        ok: {
          cid: uid,
          ctr: 1,
          ctrNew: 1,
          otc: null,
          design: { uuid: expect.any(String), name: 'Luna' },
        },
      },
      card: null,
      holder: null,
      identity: null,
    })
    const holder = newHolder()
    const delegation = delegationOf(holder)
    const { uuid } = JSON.parse((await activateCard(server, holder, otc, delegation)).json.content)
    const answer = await scan(uid, 2, asking('info'))
    expect(answer.json.info).toMatchObject({
      status: { activated: true, hasDelegation: true, hasIdentity: false },
      card: { ok: { uuid, name: 'Luna', description: '', enabled: true } },
      holder: { ok: { pubKey: holder.pubkey, delegations: [{ kind: 1112, isCurrent: true }] } },
    })
    expect(answer.text).not.toContain(delegation.token)
    expect(answer.text).not.toContain(otc)
  })
})

describe('the counter', () => {
  test('only increases, by any step, and ends where the tag ends', async () => {
    const { uid } = await newCard(server)
    const outcome = async (counter: number) => (await scan(uid, counter)).json.code ?? 'passed'
    const outcomes: string[] = []
    for (const counter of [1, 1, 0, 3, 2, 3, 70_000, 255, 69_999, 0xff_ffff, 0xff_ffff, 0, 1]) {
      outcomes.push(await outcome(counter))
    }
    const [yes, no] = ['passed', 'tap-used'] as const
    expect(outcomes).toEqual([yes, no, no, yes, no, no, yes, no, no, yes, no, no, no])
  })

  test('lets one of many identical taps pass, across processes', async () => {
    const { uid } = await newCard(server)
    for (let round = 1; round <= 5; round++) {
      const path = scanPath(uid, round)
      const list = Array.from({ length: 8 }, () => ({ path, method: 'GET' }))
      const answers = (await racers.race(server.url, [list, list, list, list])).flat()
      const passed = answers.filter(({ status }) => status === 200)
      const used = answers.filter(({ text }) => text.includes('"tap-used"'))
      expect([passed.length, used.length]).toEqual([1, 31])
    }
    const { card_scans: scans = [] } = await readRows(server.dataDir)
    const [card] = ((await readRows(server.dataDir)).cards ?? []).slice(-1) as { id: number }[]
    expect(scans.filter((one) => (one as { card_id: number }).card_id === card?.id)).toHaveLength(5)
  })

  test('is not changed by a tap with a wrong MAC', async () => {
    const { uid } = await newCard(server)
    const forged = tapQuery(uid, 9).replace(/..$/, (last) => (last === '00' ? '11' : '00'))
    const before = await readRows(server.dataDir)
    expect((await call(server.url, `/card/scan?${forged}`)).json.code).toBe('tap-invalid')
    expect(await readRows(server.dataDir)).toEqual(before)
    expect((await scan(uid, 1)).status).toBe(200)
  })
})

describe('a tap is refused', () => {
  test('in this order', async () => {
    const uid = newUid()
    const { otc } = await initCard(server, uid)
    // Form and action, before the card is looked up.
    const unknown = asking('fly')
    await refuses(() => call(server.url, '/card/scan', unknown), 400, 'action-unknown')
    for (const query of ['', 'p=1&c=2', tapQuery(uid, 1).slice(0, -1), `${tapQuery(uid, 1)}0`]) {
      await refuses(() => call(server.url, `/card/scan?${query}`), 400, 'tap-invalid')
    }
    // MAC, then card, then counter.
    await refuses(() => call(server.url, scanPath(uid, 1, 2)), 400, 'tap-invalid')
    const otherKey = 'f'.repeat(32)
    await refuses(
      () => call(server.url, `/card/scan?${tapQuery(uid, 1, 1, otherKey)}`),
      400,
      'tap-invalid',
    )
    await refuses(() => scan(newUid(), 1), 404, 'card-unknown')
    await damage(
      server.dataDir,
      `UPDATE cards SET counter_known = 0, counter = 5 WHERE cid = x'${uid}'`,
    )
    await refuses(() => scan(uid, 5), 400, 'card-unconfirmed')
    await damage(server.dataDir, `UPDATE cards SET counter_known = 1 WHERE cid = x'${uid}'`)
    await refuses(() => scan(uid, 5), 400, 'tap-used')
    // The state of the card; its taps are used up by now.
    await refuses(() => scan(uid, 6), 400, 'card-inactive')
    await refuses(() => scan(uid, 6), 400, 'tap-used')
    const holder = newHolder()
    await activateCard(server, holder, otc)
    await damage(server.dataDir, `UPDATE cards SET blocked = 1 WHERE cid = x'${uid}'`)
    await refuses(() => scan(uid, 7), 400, 'card-disabled')
    const actions = ['identityQuery', 'payRequest', 'extendedScan']
    for (const [at, action] of actions.entries()) {
      await refuses(() => scan(uid, 8 + at, asking(action)), 400, 'card-disabled')
    }
    expect((await scan(uid, 50, asking('info'))).json.info.card.ok.enabled).toBe(false)
    await damage(server.dataDir, `UPDATE cards SET blocked = 0, enabled = 0 WHERE cid = x'${uid}'`)
    await refuses(() => scan(uid, 51), 400, 'card-disabled')
    await damage(server.dataDir, `UPDATE cards SET enabled = 1 WHERE cid = x'${uid}'`)
    await refuses(() => scan(uid, 52, asking('extendedScan', ',tokens=OTRO')), 400, 'token-unknown')
    expect((await scan(uid, 53)).status).toBe(200)
  })

  test('when its delegation has expired, and the holder renews it with the used code', async () => {
    const uid = newUid()
    const holder = newHolder()
    const { otc } = await initCard(server, uid)
    const now = secondsNow()
    const brief = delegationOf(
      holder,
      `kind=1112&created_at>${now - 9}&created_at<${now + briefSeconds}`,
    )
    expect((await activateCard(server, holder, otc, brief)).status).toBe(201)
    expect((await scan(uid, 1)).status).toBe(200)
    await untilSecond(now + briefSeconds)
    await refuses(() => scan(uid, 2), 400, 'delegation-over')
    expect((await scan(uid, 3, asking('info'))).json.info.status.hasDelegation).toBe(false)
    expect((await activateCard(server, holder, otc)).status).toBe(201)
    expect((await scan(uid, 4)).status).toBe(200)
  })

  test('without a gateway, unless it pays tokens of the shop', async () => {
    const { GATEWAY_PUBKEY, ...env } = cardEnv
    expect(GATEWAY_PUBKEY).toBeDefined()
    const closed = await startServer({ env })
    const { uid } = await newCard(closed)
    const answer = await call(closed.url, scanPath(uid, 1))
    expect([answer.status, answer.json.code]).toEqual([400, 'no-gateway'])
    const { json } = await call(closed.url, scanPath(uid, 2), asking('extendedScan'))
    expect(json.tokens.PESO).toEqual({ minWithdrawable: 0, maxWithdrawable: 0 })
    const worthless = await startServer({ env: { ...cardEnv, TOKENS: `PESO:2:${manager.pubkey}` } })
    const without = await newCard(worthless)
    const refused = await call(worthless.url, scanPath(without.uid, 1))
    expect(refused.json.code).toBe('no-gateway')
    const lone = await startServer({ env: { ...env, TOKENS: '' } })
    const other = await newCard(lone)
    const none = await call(lone.url, scanPath(other.uid, 1), asking('extendedScan'))
    expect(none.json.code).toBe('token-unknown')
  })
})

test('forged taps from one address are limited; real ones go on', async () => {
  const limited = await startServer({ env: cardEnv })
  const { uid } = await newCard(limited)
  const wrong = `/card/scan?${tapQuery(uid, 1, 1, 'f'.repeat(32))}`
  const statuses = await Promise.all(
    Array.from({ length: 130 }, async () => (await call(limited.url, wrong)).status),
  )
  expect(new Set(statuses)).toEqual(new Set([400, 429]))
  expect((await call(limited.url, scanPath(uid, 2))).status).toBe(200)
})

test('a limit of an unknown token causes a warning', async () => {
  const env = { ...cardEnv, DEFAULT_LIMITS: 'día;;PESOS;1;60:vez;;PESO;1;0' }
  const mistaken = await startServer({ env })
  await mistaken.stop()
  const told = mistaken.output().match(/cards.limit-of-no-token.*/g)
  expect(told).toEqual([expect.stringContaining('"limit":"día","token":"PESOS"')])
})

test('the keys of cards survive a loss of the database', async () => {
  const { uid } = await newCard(server)
  const lost = await startServer({ env: cardEnv })
  expect((await call(lost.url, scanPath(uid, 40))).json.code).toBe('card-unknown')
  const { otc } = await initCard(lost, uid, { ctr: 39 })
  await activateCard(lost, newHolder(), otc)
  expect((await call(lost.url, scanPath(uid, 39))).json.code).toBe('tap-used')
  expect((await call(lost.url, scanPath(uid, 40))).status).toBe(200)
  expect(masterKey).toHaveLength(32)
})

test('an answered tap stays used, also when the process dies at once', async () => {
  const first = await startServer({ env: cardEnv })
  const { uid } = await newCard(first)
  const path = scanPath(uid, 1)
  const answers = Array.from({ length: 20 }, () => call(first.url, path).catch(() => null))
  const answered = await Promise.any(
    answers.map(async (one) => {
      const answer = await one
      if (answer?.status !== 200) throw new Error('refused')
      return answer
    }),
  )
  await first.kill()
  await Promise.all(answers)
  const again = await startServer({ dataDir: first.dataDir, env: cardEnv })
  expect((await call(again.url, path)).json.code).toBe('tap-used')
  expect((await readRows(first.dataDir)).card_scans).toHaveLength(1)
  expect(answered.json.tag).toBe('withdrawRequest')
})

test('another CARD_MASTER_KEY than that of the cards stops the start', async () => {
  const first = await startServer({ env: cardEnv })
  await newCard(first)
  await first.stop()
  const env = { ...cardEnv, CARD_MASTER_KEY: 'f'.repeat(32) }
  const start = startServer({ dataDir: first.dataDir, env })
  expect(start).rejects.toThrow(/keys of another CARD_MASTER_KEY/)
  await start.catch(() => undefined)
  const { CARD_MASTER_KEY, ...unset } = cardEnv
  expect(CARD_MASTER_KEY).toBe(masterKey)
  const without = startServer({ dataDir: first.dataDir, env: unset })
  expect(without).rejects.toThrow(/keys\/card\.key\) is missing/)
  await without.catch(() => undefined)
})

test('a stranger is no member of the relay; the holder of a card is one', async () => {
  const env = { ...cardEnv, PUBLIC_URL: 'https://cupones.example' }
  const open = await startServer({ env })
  const { holder } = await newCard(open)
  const publish = (signer = newSigner()) =>
    call(open.url, '/nostr/publish', { body: createEvent({ signer }) })
  expect((await publish()).json.code).toBe('not-allowed')
  expect((await publish(holder)).status).toBe(202)
  const body = cardEvent('card-delete-request', { cid: 'x' })
  expect((await call(open.url, '/ntag424', { method: 'DELETE', body })).status).toBe(422)
})
