/** One-time codes of cards: their length, and the limit of tries. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { codeMac } from '../../src/wallet/cards/code.ts'
import {
  cardEnv,
  cardEvent,
  contentOf,
  delegationOf,
  type Holder,
  newHolder,
  newUid,
  tapQuery,
} from '../support/cards.ts'
import { call } from '../support/client.ts'
import { damage } from '../support/database.ts'
import { cleanUp, startServer, type TestServer } from '../support/server.ts'

const storeKey = Buffer.alloc(32, 5)
let server: TestServer
beforeAll(async () => {
  const env = { STORE_KEY: storeKey.toString('hex'), TRUSTED_PROXIES: '127.0.0.1' }
  server = await startServer({ checkRoots: true, env: { ...cardEnv, ...env } })
})
afterAll(cleanUp)

let addresses = 0
/** A fresh client address. */
const newAddress = () => `203.0.${Math.floor(++addresses / 250)}.${(addresses % 250) + 1}`

/** POST /ntag424, through a proxy that speaks https; the code that the service made. */
async function initCard(uid: string): Promise<string> {
  const body = cardEvent('card-init-request', { cid: uid })
  const headers = { 'X-Forwarded-For': '203.0.113.9', 'X-Forwarded-Proto': 'https' }
  return contentOf(await call(server.url, '/ntag424', { body, headers })).otc
}

/** POST /card from an address. */
function activate(otc: string, from: string, holder: Holder = newHolder()) {
  const content = { otc, delegation: delegationOf(holder) }
  const body = cardEvent('card-activation-request', content, { signer: holder })
  return call(server.url, '/card', { body, headers: { 'X-Forwarded-For': from } })
}

/** A card with the code that its writer chose. */
async function linkedCard(code = `folleto ${newUid()}`) {
  const uid = newUid()
  await initCard(uid)
  const body = cardEvent('card-init-request', { otc: code })
  const patch = { method: 'PATCH', body }
  expect((await call(server.url, `/ntag424?${tapQuery(uid, 1)}`, patch)).status).toBe(204)
  return { uid, code }
}

/** Wrong codes, one after the other. */
async function guess(times: number, from: () => string, holder?: Holder) {
  const answers: string[] = []
  for (let at = 0; at < times; at++) {
    const { status, json } = await activate(crypto.randomUUID(), from(), holder)
    answers.push(`${status} ${json.code}`)
  }
  return answers
}

const wrong = '404 otc-unknown'
const limited = '429 rate-limited'

/** So many wrong codes, or a few more on a slow machine, and then no more. */
function expectThenLimited(answers: string[], tries: number): void {
  const at = answers.indexOf(limited)
  expect(at).toBeGreaterThanOrEqual(tries)
  expect(new Set(answers.slice(0, at))).toEqual(new Set([wrong]))
}

describe('a code that the writer chose', () => {
  test('has twelve characters', async () => {
    const { code } = await linkedCard('0123456789ab')
    expect((await activate(code, newAddress())).status).toBe(201)
  })

  test('may be shorter when it was linked before that rule', async () => {
    const uid = newUid()
    await initCard(uid)
    const mac = Buffer.from(codeMac(storeKey, '1234')).toString('hex')
    await damage(
      server.dataDir,
      `DELETE FROM card_codes WHERE card_id = (SELECT id FROM cards WHERE cid = x'${uid}');
       INSERT INTO card_codes (mac, card_id, chosen, created_at)
       SELECT x'${mac}', id, 1, 1 FROM cards WHERE cid = x'${uid}'`,
    )
    expect((await activate('1234', newAddress())).status).toBe(201)
  })

  test('can be tried thirty times from one address; after that a right one looks like a wrong one', async () => {
    const address = newAddress()
    const [first, second] = [await linkedCard(), await linkedCard()]
    const holder = newHolder()
    expect((await activate(first.code, address, holder)).status).toBe(201)
    expectThenLimited(await guess(45, () => address), 30)
    const refused = await activate(second.code, address)
    expect([refused.status, refused.json.code]).toEqual([429, 'rate-limited'])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    // Others go on: from another address, with a generated code, and with their own code.
    expect((await activate(second.code, newAddress())).status).toBe(201)
    expect((await activate(await initCard(newUid()), address)).status).toBe(201)
    expect((await activate(first.code, address, holder)).status).toBe(201)
    expect((await activate(first.code, address)).json.code).toBe('rate-limited')
  })

  test('can be tried ten times by one key, from any address', async () => {
    const { code } = await linkedCard()
    const holder = newHolder()
    expectThenLimited(await guess(20, newAddress, holder), 10)
    expect((await activate(code, newAddress(), holder)).json.code).toBe('rate-limited')
    expect((await activate(code, newAddress())).status).toBe(201)
  })

  test('is not counted when it is right, or refused for another reason', async () => {
    const address = newAddress()
    for (let at = 0; at < 35; at++) {
      const stale = cardEvent('card-activation-request', {}, { createdAt: 5 })
      const headers = { 'X-Forwarded-For': address }
      expect((await call(server.url, '/card', { body: stale, headers })).status).toBe(422)
    }
    const { code } = await linkedCard()
    const holder = newHolder()
    for (let at = 0; at < 35; at++) {
      expect((await activate(code, address, holder)).status).toBe(201)
    }
    expect(await guess(1, () => address)).toEqual([wrong])
  })

  test('tried in parallel is limited in the same way', async () => {
    const address = newAddress()
    const answers = await Promise.all(
      Array.from({ length: 60 }, () => activate(crypto.randomUUID(), address)),
    )
    const codes = answers.map(({ status, json }) => `${status} ${json.code}`)
    expectThenLimited(codes.sort(), 30)
  })

  // The last test of this file: it uses up the limit of all addresses together.
  test('is limited over all addresses, and the first tries of another address remain', async () => {
    const { code } = await linkedCard()
    let guesser = newAddress()
    let tried = 0
    const next = () => {
      if (tried++ % 20 === 0) guesser = newAddress()
      return guesser
    }
    const found = new Set<string>()
    for (let round = 0; round < 20; round++) for (const one of await guess(20, next)) found.add(one)
    expect(found).toEqual(new Set([wrong, limited]))
    const last = newAddress()
    expect((await guess(20, () => last)).filter((one) => one === wrong).length).toBeLessThan(20)
    expect((await activate(code, newAddress())).status).toBe(201)
  })
})

test('a generated code has 128 bits', async () => {
  const uids = Array.from({ length: 20 }, newUid)
  const codes = await Promise.all(uids.map(initCard))
  expect(new Set(codes).size).toBe(20)
  for (const code of codes) expect(code).toMatch(/^[\w-]{22}$/)
  expect((await activate(codes[0] as string, newAddress())).status).toBe(201)
})
