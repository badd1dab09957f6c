import { afterAll, afterEach, expect, test } from 'bun:test'
import { call, newSigner } from '../support/client.ts'
import { databaseOf } from '../support/database.ts'
import {
  identityEvent,
  managerEnv,
  managerSecret,
  newIdentityNonce,
} from '../support/identities.ts'
import { type Racers, startRacers } from '../support/race.ts'
import { readRows } from '../support/refusals.ts'
import { cleanUp, newDirectory, startServer } from '../support/server.ts'

const manager = newSigner(managerSecret)
const env = { ...managerEnv, RATE_LIMIT: 'off' }
const processes = 4
const each = 3
let racers: Racers | null = null

afterEach(async () => {
  await racers?.stop()
  racers = null
})
afterAll(cleanUp)

const newNonces = (base: string, count: number) =>
  Promise.all(Array.from({ length: count }, () => newIdentityNonce(base, manager)))
const request = (body: unknown) => ({ path: '/api/identity', body })

/** Every process sends its requests at once; what was answered, request by request. */
async function race(base: string, bodies: unknown[]) {
  racers ??= startRacers(processes)
  const lists = Array.from({ length: processes }, (_, at) =>
    bodies.slice(at * each, (at + 1) * each).map(request),
  )
  const answers = (await racers.race(base, lists)).flat()
  return answers.map(({ status, text }) => ({ status, code: JSON.parse(text).code }))
}

test('one of many racing requests gets a name, and the nonces of the others stay valid', async () => {
  const server = await startServer({ env })
  for (const name of ['ana', 'eva', 'sol']) {
    const nonces = await newNonces(server.url, processes * each)
    const bodies = nonces.map((nonce) =>
      identityEvent(manager, nonce, { name, pubkey: newSigner().pubkey }),
    )
    const answers = await race(server.url, bodies)
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ code }) => code === 'identity-name-taken')).toHaveLength(
      nonces.length - 1,
    )
    const states = await Promise.all(nonces.map((nonce) => call(server.url, `/api/nonce/${nonce}`)))
    expect(states.map(({ status }) => status)).toEqual(
      answers.map(({ status }) => (status === 200 ? 410 : 200)),
    )
  }
})

test('a nonce makes one identity, however many requests race with it', async () => {
  const server = await startServer({ env })
  for (let round = 0; round < 3; round++) {
    const nonce = await newIdentityNonce(server.url, manager)
    const bodies = Array.from({ length: processes * each }, (_, at) =>
      identityEvent(manager, nonce, { name: `n${round}-${at}`, pubkey: newSigner().pubkey }),
    )
    const answers = await race(server.url, bodies)
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ code }) => code === 'identity-nonce-burned')).toHaveLength(
      bodies.length - 1,
    )
    expect((await readRows(server.dataDir)).accounts).toHaveLength(round + 1)
  }
})

test('a key gets one name, however many requests race for it', async () => {
  const server = await startServer({ env })
  const { pubkey } = newSigner()
  const nonces = await newNonces(server.url, processes * each)
  const bodies = nonces.map((nonce, at) =>
    identityEvent(manager, nonce, { name: `n${at}`, pubkey }),
  )
  const answers = await race(server.url, bodies)
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  expect(answers.filter(({ code }) => code === 'identity-pubkey-taken')).toHaveLength(
    nonces.length - 1,
  )
})

test('one event that many processes send makes one nonce', async () => {
  const server = await startServer({ env })
  racers = startRacers(processes)
  const tags = [['t', 'create-nonce']]
  const body = identityEvent(manager, null, {}, { tags, content: '' })
  const list = Array.from({ length: each }, () => ({ path: '/api/nonce', body }))
  const answers = (await racers.race(server.url, Array(processes).fill(list))).flat()
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  expect(answers.filter(({ status }) => status === 409)).toHaveLength(processes * each - 1)
})

test('an identity that was answered before a kill exists after it, and no nonce is burned without one', async () => {
  const dataDir = newDirectory()
  for (let round = 0; round < 3; round++) {
    const server = await startServer({ dataDir, env })
    const nonces = await newNonces(server.url, 60)
    const told = new Map<string, string>()
    const enough = Promise.withResolvers<void>()
    const lane = async (of: number) => {
      for (let at = of; at < nonces.length; at += 6) {
        const wanted = { name: `k${round}-${at}`, pubkey: newSigner().pubkey }
        const body = identityEvent(manager, nonces[at] as string, wanted)
        const answer = await call(server.url, '/api/identity', { body }).catch(() => null)
        if (!answer) return
        told.set(wanted.name, answer.json.id)
        if (told.size === 20) enough.resolve()
      }
    }
    const lanes = Promise.all(Array.from({ length: 6 }, (_, of) => lane(of)))
    await enough.promise
    await server.kill()
    await lanes

    const accounts = (await readRows(dataDir)).accounts as { name: string; uuid: string }[]
    const kept = new Map(accounts.map(({ name, uuid }) => [name, uuid]))
    expect(told.size).toBeGreaterThanOrEqual(20)
    for (const [name, uuid] of told) expect({ name, uuid: kept.get(name) }).toEqual({ name, uuid })
    // Each account with its burned nonce, each burned nonce with its account.
    expect(await databaseOf(dataDir).problems()).toEqual([])
  }
})
