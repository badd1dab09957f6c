import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { chooseSeed, Random } from '../fuzz/random.ts'
import { call, createDefinition, type Json, newKey, newSigner } from '../support/client.ts'
import { databaseOf } from '../support/database.ts'
import { cleanUp } from '../support/server.ts'
import {
  addAccount,
  callAs,
  type Holder,
  newHolder,
  openInbox,
  planShop,
  runShop,
  type Shop,
} from '../support/shops.ts'
import { logged, until } from '../support/until.ts'

/** A shop with its merchant and the people who have a name there. */
type Side = Shop & {
  token: string
  couponId: string
  people: Holder[]
  minted: string[]
  /** The output of its processes before they were killed. */
  logs: string[]
}
let here: Side
let there: Side

async function open(shop: Shop, people: string[]): Promise<Side> {
  const signer = newSigner()
  const session = { method: 'POST', body: {}, signer }
  const { json } = await callAs(shop.server.url, shop.url, '/api/auth/session', session)
  const couponId = await createDefinition(shop.server.url, json.token)
  const holders = people.map(newHolder)
  for (const { name, signer } of holders) await addAccount(shop.dataDir, name, signer.pubkey)
  return Object.assign(shop, { token: json.token, couponId, people: holders, minted: [], logs: [] })
}

beforeAll(async () => {
  const plans = [await planShop('shop.test'), await planShop('localhost')] as const
  for (const { env } of plans) env.LOG_LEVEL = 'debug'
  const people = Array.from({ length: 12 }, (_, at) => `p${at}`)
  here = await open(await runShop(plans[0], { knows: [plans[1]] }), people)
  there = await open(await runShop(plans[1], { knows: [plans[0]] }), people)
})
afterAll(async () => {
  here.front.close()
  there.front.close()
  await cleanUp()
})

async function restart(side: Side, fault = ''): Promise<void> {
  await side.server.kill()
  side.logs.push(side.server.output())
  side.front.back = null
  await runShop(side, { fault })
}

async function mint(side: Side, count: number): Promise<string[]> {
  const body = { couponId: side.couponId, count }
  const { json } = await call(side.server.url, '/api/coupons/mint', { body, token: side.token })
  const nonces = json.vouchers.map(({ nonce }: Json) => nonce)
  side.minted.push(...nonces)
  return nonces
}

/** The answer to a transfer, or null when the connection broke. */
async function transfer(from: Side, nonce: string, to: string): Promise<string | null> {
  try {
    const answer = await call(from.server.url, '/api/transfer', { body: { nonce, to } })
    return answer.status === 200 ? answer.json.status : null
  } catch {
    return null
  }
}

/** The number of open transfers. */
async function intentsOf({ dataDir }: Side): Promise<number> {
  return (await databaseOf(dataDir).all('SELECT id FROM transfer_intents')).length
}

/** Wait until no transfer is open. */
async function settled(): Promise<void> {
  await until(
    'no transfer is open',
    async () => (await intentsOf(here)) + (await intentsOf(there)) === 0,
  )
}

async function statusAt(side: Side, nonce: string): Promise<string> {
  return (await call(side.server.url, '/api/coupons/preview', { body: { nonce } })).json.status
}

/** Every nonce in the inboxes of both sides. */
async function allHeld(): Promise<string[]> {
  const boxes = [here, there].flatMap((side) =>
    side.people.map((holder) => openInbox(side.server.url, holder, side.url)),
  )
  return (await Promise.all(boxes)).flat().map(({ nonce }) => nonce)
}

/**
 * Of each voucher that `issuer` minted, exactly one nonce has its worth, and exactly one party
 * knows it: the minter, or one holder. Returns the minted nonces that still have their worth.
 */
async function expectHeldOnce(issuer: Side): Promise<string[]> {
  const { minted } = issuer
  const own = await Promise.all(minted.map((nonce) => statusAt(issuer, nonce)))
  expect(own.every((status) => status === 'minted' || status === 'refreshed')).toBe(true)
  const kept = minted.filter((_, at) => own[at] === 'minted')
  const held = await allHeld()
  expect(new Set(held).size).toBe(held.length)
  const statuses = await Promise.all(held.map((nonce) => statusAt(issuer, nonce)))
  const ours = statuses.filter((status) => status !== undefined)
  expect(ours.filter((status) => status !== 'minted')).toEqual([])
  expect(ours.length + kept.length).toBe(minted.length)
  return kept
}

/** Of these texts, those that are in the database, a file or a log of a shop, as they are or as bytes. */
async function traces({ dataDir, logs, server }: Side, texts: string[]): Promise<string[]> {
  const files = readdirSync(dataDir, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.endsWith('/keys'))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name)))
  const content = Buffer.from(await databaseOf(dataDir).content(), 'latin1')
  const places = [...files, content, Buffer.from([...logs, server.output()].join(''))]
  return texts.filter((text) => {
    const forms = [Buffer.from(text), Buffer.from(text, 'base64url')]
    return forms.some((form) => places.some((place) => place.includes(form)))
  })
}

async function expectNoTrace(): Promise<void> {
  const nonces = [...here.minted, ...there.minted, ...(await allHeld())]
  for (const side of [here, there]) {
    expect(await traces(side, nonces)).toEqual([])
    // Without this, a search that reads no file would pass, too.
    expect(await traces(side, ['Café gratis'])).toEqual(['Café gratis'])
  }
}

async function expectSound(): Promise<void> {
  for (const { dataDir } of [here, there]) {
    expect(await databaseOf(dataDir).problems()).toEqual([])
  }
}

describe('a receiver that is killed', () => {
  const receiver = async (fault: string) => {
    await restart(there, fault)
    const [nonce = ''] = await mint(here, 1)
    return nonce
  }
  const to = (at: number) => `p${at}@${there.host}`

  test('after the intent, before the refresh: completes the swap at the next start', async () => {
    const nonce = await receiver('before /refresh')
    expect(await transfer(here, nonce, to(0))).toBe('UNKNOWN')
    await there.server.exited
    expect(await intentsOf(there)).toBe(1)
    expect(await traces(there, [nonce])).toEqual([])
    expect(await statusAt(here, nonce)).toBe('minted')
    await restart(there)
    await settled()
    expect(await statusAt(here, nonce)).toBe('refreshed')
    expect(await expectHeldOnce(here)).toEqual([])
    expect(await transfer(here, nonce, to(0))).toBe('SENT')
  })

  test('after the refresh, before the store: gets the same answer again', async () => {
    const nonce = await receiver('after /refresh')
    expect(await transfer(here, nonce, to(1))).toBe('MOVED')
    await there.server.exited
    expect(await intentsOf(there)).toBe(1)
    expect(await statusAt(here, nonce)).toBe('refreshed')
    await restart(there)
    await settled()
    expect(await expectHeldOnce(here)).toEqual([])
  })

  test('after the store, before its answer: has accepted, and answers so when asked again', async () => {
    const nonce = await receiver('')
    there.front.back = (bytes, socket) => {
      // The answer to the callback, not the one to the look-up before it.
      if (bytes.includes('ACCEPTED')) void there.server.kill()
      else socket.write(bytes)
    }
    expect(await transfer(here, nonce, to(2))).toBe('MOVED')
    await there.server.exited
    expect(await intentsOf(there)).toBe(0)
    await restart(there)
    expect(await expectHeldOnce(here)).toEqual([])
    expect(await transfer(here, nonce, to(2))).toBe('SENT')
  })

  test('while the sender takes the voucher back: drops the transfer', async () => {
    const nonce = await receiver('before /refresh')
    expect(await transfer(here, nonce, to(3))).toBe('UNKNOWN')
    await there.server.exited
    const headers = { 'Idempotency-Key': newKey() }
    const back = await call(here.server.url, '/api/coupons/refresh', { body: { nonce }, headers })
    expect(back.status).toBe(201)
    here.minted.splice(here.minted.indexOf(nonce), 1, back.json.nonce)
    await restart(there)
    await settled()
    expect(await expectHeldOnce(here)).toEqual([back.json.nonce])
  })

  test('while the issuer is unreachable: waits for it', async () => {
    const nonce = await receiver('before /refresh')
    expect(await transfer(here, nonce, to(4))).toBe('UNKNOWN')
    await there.server.exited
    await here.server.kill()
    await restart(there)
    await logged(there.server, 'transfer.postponed')
    expect(await intentsOf(there)).toBe(1)
    await restart(here)
    // A restart retries sooner than the schedule would.
    await restart(there)
    await settled()
    expect(await expectHeldOnce(here)).toHaveLength(1)
    await expectSound()
  })
})

describe('a sender that is killed', () => {
  test.each(['before /cb', 'after /cb', 'after /.well-known'])(
    '%s: the voucher is somewhere',
    async (fault) => {
      const [nonce = ''] = await mint(there, 1)
      await restart(there, fault)
      expect(await transfer(there, nonce, `p5@${here.host}`)).toBeNull()
      await there.server.exited
      await restart(there)
      await settled()
      expect(await statusAt(there, nonce)).toBe(fault === 'after /cb' ? 'refreshed' : 'minted')
      const again = await transfer(there, nonce, `p5@${here.host}`)
      expect(again).toBe('SENT')
      const { length } = await openInbox(here.server.url, here.people[5] as Holder, here.url)
      expect(length).toBeGreaterThan(0)
    },
  )
})

const seed = chooseSeed()
test(`two shops that send to each other and are killed repeatedly lose nothing, SEED=${seed}`, async () => {
  const random = new Random(seed)
  let up: Promise<unknown> = Promise.resolve()
  const kill = (...sides: Side[]) => {
    up = Promise.all(sides.map((side) => restart(side)))
    return up
  }
  const outcomes: { from: Side; nonce: string; status: string | null }[] = []
  const lane = async (from: Side, nonces: string[]) => {
    for (const nonce of nonces) {
      const at = random.below(4) === 0 ? from : from === here ? there : here
      const status = await transfer(from, nonce, `p${random.below(12)}@${at.host}`)
      outcomes.push({ from, nonce, status })
      await up
    }
  }
  for (let round = 0; round < 3; round++) {
    const lanes = await Promise.all(
      [here, there].map(async (side) => {
        const nonces = await mint(side, 36)
        return Array.from({ length: 6 }, (_, at) => nonces.slice(at * 6, at * 6 + 6))
      }),
    )
    const running = [here, there].flatMap(
      (side, at) => lanes[at]?.map((one) => lane(side, one)) ?? [],
    )
    await Bun.sleep(random.below(100))
    await kill(random.below(2) === 0 ? here : there)
    await Bun.sleep(random.below(100))
    await kill(here, there)
    await Promise.all(running)
  }
  // A start retries open transfers at once.
  await Promise.all([restart(here), restart(there)])
  await settled()
  for (const side of [here, there]) {
    const kept = new Set(await expectHeldOnce(side))
    const own = outcomes.filter(({ from }) => from === side)
    for (const { nonce, status } of own) {
      if (status === 'SENT' || status === 'MOVED') expect(kept.has(nonce)).toBe(false)
      if (status === 'NOT_SENT') expect(kept.has(nonce)).toBe(true)
    }
    expect(own.filter(({ status }) => status === 'SENT').length).toBeGreaterThan(10)
  }
  await expectSound()
  await expectNoTrace()
})
