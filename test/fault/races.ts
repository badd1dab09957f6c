/**
 * `npm run races`: processes that race for one voucher, `--count` times each. With `--postgres` the race matrix of
 * PostgreSQL in place of them; `--only NAME` leaves the pairs with that operation, and `--without-locks` is its control.
 */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { runMatrix } from '../postgres/races/whole.ts'
import {
  call,
  createDefinition,
  createProof,
  type Json,
  mintOne,
  newKey,
  newSigner,
  nostrHeader,
  openSession,
} from '../support/client.ts'
import { type RaceAnswer, type RaceRequest, startRacers } from '../support/race.ts'
import { cleanUp, startServer } from '../support/server.ts'
import { checkInvariants } from '../support/workload.ts'

/** Processes that race, and how many requests each sends in one race. */
const processes = 4
const each = 3

type Facts = { base: string; token: string; couponId: string; signer: ReturnType<typeof newSigner> }

/** A race: what every process sends, given its number, and what must be true of the answers. */
type Race = {
  prepare: (facts: Facts) => Promise<{
    send: (process: number, at: number) => RaceRequest
    judge: (answers: RaceAnswer[], facts: Facts) => Promise<string[]> | string[]
  }>
}

/** Every race by the sentence it proves. */
export const races: Record<string, Race> = {
  'one nonce, a key each: one successor, 409 for all others': {
    async prepare({ base, token, couponId }) {
      const { nonce } = await mintOne(base, token, couponId)
      return {
        send: () => refreshRequest(nonce, newKey()),
        judge: (answers) => [
          ...counts(answers, { 201: 1, 409: answers.length - 1 }),
          ...codes(answers, 409, 'voucher-refreshed'),
        ],
      }
    },
  },
  'one nonce, one key: one 201, 200 for all others, all the same bytes': {
    async prepare({ base, token, couponId }) {
      const { nonce } = await mintOne(base, token, couponId)
      const key = newKey()
      return {
        send: () => refreshRequest(nonce, key),
        judge: (answers) => [
          ...counts(answers, { 201: 1, 200: answers.length - 1 }),
          ...expect('different bytes', new Set(answers.map(({ text }) => text)).size === 1),
        ],
      }
    },
  },
  'claim against refresh: exactly one of them wins': {
    async prepare({ base, token, couponId }) {
      const { nonce } = await mintOne(base, token, couponId)
      return {
        send: (process, at) =>
          (process + at) % 2 === 0 ? claimRequest(nonce) : refreshRequest(nonce, newKey()),
        async judge(answers) {
          const won = answers.filter(({ status }) => status === 201).length
          const claims = answers.filter(({ text }) => text.includes('"status":"success"')).length
          const { json } = await call(base, '/api/coupons/preview', { body: { nonce } })
          return [
            ...expect(`${won} refreshes and ${claims} claims won`, won + claims === 1),
            ...expect(`it is ${json.status}`, json.status === (won ? 'refreshed' : 'claimed')),
            ...expect(
              'another status',
              answers.every(({ status }) => [200, 201, 409, 410].includes(status)),
            ),
          ]
        },
      }
    },
  },
  'claims of one nonce: one success, and the same redemption for all': {
    async prepare({ base, token, couponId }) {
      const { nonce } = await mintOne(base, token, couponId)
      return {
        send: () => claimRequest(nonce),
        judge(answers) {
          const bodies = answers.map(({ text }) => JSON.parse(text))
          const same = new Set(
            bodies.map(({ claimedAt, voucher }) => `${claimedAt} ${voucher?.id}`),
          )
          const wins = bodies.filter(({ status }) => status === 'success').length
          return [
            ...counts(answers, { 200: answers.length }),
            ...expect(`${wins} successes`, wins === 1),
            ...expect('several redemptions', same.size === 1),
          ]
        },
      }
    },
  },
  'the last slot goes to one': {
    async prepare({ base, token }) {
      const couponId = await createDefinition(base, token, { maxUses: 2 })
      await mintOne(base, token, couponId)
      return {
        send: () => mintRequest(token, { couponId }),
        judge: (answers) => [
          ...counts(answers, { 200: 1, 409: answers.length - 1 }),
          ...codes(answers, 409, 'coupon-exhausted'),
        ],
      }
    },
  },
  'mints of several at once never share a slot': {
    async prepare({ base, token }) {
      const couponId = await createDefinition(base, token, { maxUses: 10 })
      return {
        send: () => mintRequest(token, { couponId, count: 3 }),
        judge: (answers) => counts(answers, { 200: 3, 409: answers.length - 3 }),
      }
    },
  },
  'void against claim: the one that comes second is refused': {
    async prepare({ base, token, couponId }) {
      const { nonce } = await mintOne(base, token, couponId)
      return {
        send: (process) =>
          process % 2 === 0
            ? claimRequest(nonce)
            : {
                path: `/api/coupons/${couponId}/mints/${nonce}`,
                method: 'DELETE',
                headers: bearer(token),
              },
        judge(answers) {
          const claims = answers.filter(({ text }) => text.includes('"status":"success"')).length
          const voids = answers.filter(({ text }) => text.includes('"mint":')).length
          const codesSeen = new Set(answers.flatMap(({ text }) => JSON.parse(text).code ?? []))
          const wanted = claims === 1 ? 'voucher-claimed' : 'voucher-cancelled,voucher-voided'
          return [
            ...expect(`${claims} claims and ${voids} voids won`, claims + voids === 1),
            ...expect(
              `codes ${[...codesSeen]}`,
              [...codesSeen].every((code) => wanted.includes(code)),
            ),
          ]
        },
      }
    },
  },
  'the kill switch against claim and refresh: nothing open is left, and the sum is right': {
    async prepare({ base, token }) {
      const couponId = await createDefinition(base, token)
      const { json } = await call(base, '/api/coupons/mint', {
        body: { couponId, count: processes * each },
        token,
      })
      const nonces: string[] = json.vouchers.map(({ nonce }: Json) => nonce)
      return {
        send(process, at) {
          if (process === 0 && at === 0) {
            return {
              path: `/api/coupons/${couponId}/mints`,
              method: 'DELETE',
              headers: bearer(token),
            }
          }
          const nonce = nonces[process * each + at] ?? ''
          return at % 2 === 0 ? claimRequest(nonce) : refreshRequest(nonce, newKey())
        },
        async judge(answers) {
          const kill = JSON.parse(answers[0]?.text ?? '{}')
          const claims = answers.filter(({ text }) => text.includes('"status":"success"')).length
          const fresh = answers.flatMap(({ status, text }) =>
            status === 201 ? [JSON.parse(text).nonce as string] : [],
          )
          const later = await Promise.all(
            [...nonces, ...fresh].map(
              async (nonce) =>
                (await call(base, '/api/coupons/preview', { body: { nonce } })).json.status,
            ),
          )
          const open = later.filter((status) => status === 'minted').length
          const claimed = later.filter((status) => status === 'claimed').length
          const voided = later.filter((status) => status === 'voided').length
          // A refresh after the kill is refused, so what is open now was refreshed by nobody.
          return [
            ...expect(`${open} open after the kill`, open === 0),
            ...expect(`${claims} claims answered, ${claimed} stand`, claims === claimed),
            ...expect(`voided ${kill.voided}, found ${voided}`, kill.voided === voided),
            ...expect('the sum', claimed + voided === nonces.length),
          ]
        },
      }
    },
  },
  'one Idempotency-Key on mint: one voucher, the same bytes for all': {
    async prepare({ base, token }) {
      const couponId = await createDefinition(base, token)
      const key = newKey()
      return {
        send: () => ({
          ...mintRequest(token, { couponId }),
          headers: { ...bearer(token), 'Idempotency-Key': key },
        }),
        async judge(answers) {
          const { json } = await call(base, '/api/coupons', { token })
          const { minted } = json.coupons.find(({ id }: Json) => id === couponId)
          return [
            ...counts(answers, { 200: answers.length }),
            ...expect('different bytes', new Set(answers.map(({ text }) => text)).size === 1),
            ...expect(`${minted} minted`, minted === 1),
          ]
        },
      }
    },
  },
  'one signed event from many: accepted once, a replay for all others': {
    async prepare({ base, signer, couponId }) {
      const body = { couponId }
      const proof = createProof(signer, `${base}/api/coupons/mint`, {
        method: 'POST',
        body: JSON.stringify(body),
      })
      return {
        send: () => ({
          path: '/api/coupons/mint',
          body,
          headers: { Authorization: nostrHeader(proof) },
        }),
        judge: (answers) => [
          ...counts(answers, { 200: 1, 401: answers.length - 1 }),
          ...codes(answers, 401, 'auth-replay'),
        ],
      }
    },
  },
  'one signed event on a reading route: accepted once': {
    async prepare({ base, signer }) {
      const proof = createProof(signer, `${base}/api/coupons`)
      return {
        send: () => ({
          path: '/api/coupons',
          method: 'GET',
          headers: { Authorization: nostrHeader(proof) },
        }),
        judge: (answers) => [
          ...counts(answers, { 200: 1, 401: answers.length - 1 }),
          ...codes(answers, 401, 'auth-replay'),
        ],
      }
    },
  },
}

/** Run every race `count` times by several processes against one server; the broken rules. */
export async function runRaces(count: number): Promise<string[]> {
  const server = await startServer({ env: { RATE_LIMIT: 'off', LOG_LEVEL: 'warn' } })
  const racers = startRacers(processes)
  const problems: string[] = []
  try {
    const signer = newSigner()
    const token = await openSession(server.url, signer)
    const couponId = await createDefinition(server.url, token)
    const facts = { base: server.url, token, couponId, signer }
    for (let round = 0; round < count; round++) {
      for (const [sentence, race] of Object.entries(races)) {
        const { send, judge } = await race.prepare(facts)
        const lists = Array.from({ length: processes }, (_, process) =>
          Array.from({ length: each }, (_, at) => send(process, at)),
        )
        const answers = (await racers.race(server.url, lists)).flat()
        problems.push(...(await judge(answers, facts)).map((one) => `${sentence}: ${one}`))
      }
    }
  } finally {
    await racers.stop()
  }
  if ((await server.stop()) !== 0) problems.push('the server did not end well')
  return [...problems, ...checkInvariants(join(server.dataDir, 'cuponera.db'))]
}

function refreshRequest(nonce: string, key: string): RaceRequest {
  return { path: '/api/coupons/refresh', body: { nonce }, headers: { 'Idempotency-Key': key } }
}

function claimRequest(nonce: string): RaceRequest {
  return { path: '/api/coupons/claim', body: { nonce } }
}

function mintRequest(token: string, body: unknown): RaceRequest {
  return { path: '/api/coupons/mint', body, headers: bearer(token) }
}

function bearer(token: string): Record<string, string> {
  return { Authorization: `Bearer ${token}` }
}

function expect(problem: string, holds: boolean): string[] {
  return holds ? [] : [problem]
}

/** So many answers of each status, and none of any other. */
function counts(answers: RaceAnswer[], wanted: Record<number, number>): string[] {
  const found: Record<number, number> = {}
  for (const { status } of answers) found[status] = (found[status] ?? 0) + 1
  const holds = Bun.deepEquals(found, wanted)
  return expect(`${JSON.stringify(found)}, wanted ${JSON.stringify(wanted)}`, holds)
}

function codes(answers: RaceAnswer[], status: number, code: string): string[] {
  const others = answers.filter((one) => one.status === status && !one.text.includes(`"${code}"`))
  return others.map(({ text }) => `${status} with ${text}`)
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      count: { type: 'string', default: '20' },
      postgres: { type: 'boolean', default: false },
      'without-locks': { type: 'boolean', default: false },
      only: { type: 'string' },
    },
  })
  if (values.postgres) {
    const { only } = values
    const wrong = await runMatrix({ locked: !values['without-locks'], ...(only && { only }) })
    process.exit(wrong === 0 ? 0 : 1)
  }
  const problems = await runRaces(Number(values.count))
  await cleanUp()
  for (const problem of problems.slice(0, 20)) console.log(problem)
  const total = Number(values.count) * Object.keys(races).length
  console.log(`${total} races by ${processes} processes, ${problems.length} problems`)
  process.exit(problems.length === 0 ? 0 : 1)
}
