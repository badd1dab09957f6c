/** Races of several people for what one of them, or so many of them, may have. */
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
} from '../../support/client.ts'
import { origin } from '../../support/nodes.ts'
import type { RaceAnswer, RaceRequest } from '../../support/race.ts'
import { openInbox } from '../../support/shops.ts'
import { until } from '../../support/until.ts'
import {
  bearer,
  claimRequest,
  codes,
  counts,
  expect,
  type Facts,
  mintRequest,
  type Race,
  refreshRequest,
} from './race.ts'

const succeeded = ({ text }: RaceAnswer) => text.includes('"status":"success"')

async function hang({ base, token }: Facts, limits: object): Promise<string> {
  const couponId = await createDefinition(base, token)
  const body = { couponId, label: 'Vidriera', timeZone: 'UTC', perPerson: 1, ...limits }
  const { json } = await call(base, '/api/posters', { body, token })
  return `/api/posters/${json.poster.id}/take`
}

const takeRequest = (path: string, token = '', key = newKey()): RaceRequest => ({
  path,
  headers: { ...bearer(token), 'Idempotency-Key': key },
})

/** A merchant of its own whose coupon only authorised keys redeem, with one such key. */
async function openTill({ base, takers, processes, each }: Facts) {
  const token = await openSession(base, newSigner(), origin)
  const till = newSigner()
  const tillToken = await openSession(base, till, origin)
  await call(base, '/api/coupons/minters', { body: { pubkey: till.pubkey }, token })
  const method = 'PATCH'
  await call(base, '/api/shop', { method, body: { onlyAuthorizedTills: true }, token })
  const couponId = await createDefinition(base, token)
  const body = { couponId, count: processes * each }
  const { json } = await call(base, '/api/coupons/mint', { body, token })
  const nonces: string[] = json.vouchers.map(({ nonce }: Json) => nonce)
  const removal: RaceRequest = {
    path: `/api/coupons/minters/${till.pubkey}`,
    method: 'DELETE',
    headers: bearer(token),
  }
  return { token, tillToken, couponId, nonces, removal, stranger: takers[0] ?? '' }
}

/** The status of a voucher, or of all of them. */
const statusOf = async (base: string, nonce: string): Promise<string> =>
  (await call(base, '/api/coupons/preview', { body: { nonce } })).json.status

async function mintedOf(base: string, couponId: string, token: string): Promise<number> {
  const { json } = await call(base, '/api/coupons', { token })
  return json.coupons.find(({ id }: Json) => id === couponId)?.minted
}

/** Races of people, by the sentence that each proves. */
export const people: Record<string, Race> = {
  'takes of many from a poster: as many as it has': {
    async prepare(facts) {
      const total = 5
      const path = await hang(facts, { total })
      const { takers, each } = facts
      return {
        send: (process, at) => takeRequest(path, takers[process * each + at]),
        judge: (answers) => [
          ...counts(answers, { 201: total, 409: answers.length - total }),
          ...codes(answers, 409, 'poster-exhausted'),
        ],
      }
    },
  },
  'takes of one from a poster: as many as one person may have': {
    async prepare(facts) {
      const path = await hang(facts, { perPerson: 3 })
      return {
        send: () => takeRequest(path, facts.takers[0]),
        judge: (answers) => [
          ...counts(answers, { 201: 3, 409: answers.length - 3 }),
          ...codes(answers, 409, 'poster-taken'),
        ],
      }
    },
  },
  'one take under one key: one voucher, the same bytes for all': {
    async prepare(facts) {
      const path = await hang(facts, { perPerson: 3 })
      const key = newKey()
      return {
        send: () => takeRequest(path, facts.takers[0], key),
        judge: (answers) => counts(answers, { 201: 1, 200: answers.length - 1 }),
      }
    },
  },
  'claim, refresh, void and the kill switch for one voucher: one of them wins': {
    async prepare({ base, token }) {
      const couponId = await createDefinition(base, token)
      const { nonce } = await mintOne(base, token, couponId)
      const path = `/api/coupons/${couponId}/mints`
      const drop = { method: 'DELETE', headers: bearer(token) }
      return {
        send(process, at) {
          if (process === 1 && at === 0) return { path, ...drop }
          const which = (process + at) % 3
          if (which === 0) return claimRequest(nonce)
          if (which === 1) return refreshRequest(nonce, newKey())
          return { path: `${path}/${nonce}`, ...drop }
        },
        async judge(answers) {
          const claims = answers.filter(succeeded).length
          const fresh = answers.filter(({ status }) => status === 201)
          const voids = answers.filter(({ text }) => text.includes('"mint":')).length
          const killed = answers.reduce((sum, { text }) => sum + (JSON.parse(text).voided ?? 0), 0)
          const successor = fresh[0] && (await statusOf(base, JSON.parse(fresh[0].text).nonce))
          return [
            ...expect(
              `${claims} claims, ${fresh.length} refreshes, ${voids} voids and ${killed} killed won`,
              claims + voids + killed === 1 && fresh.length <= killed,
            ),
            ...expect(`the successor is ${successor}`, !successor || successor === 'voided'),
          ]
        },
      }
    },
  },
  'hand-over to several names: one of them has it': {
    async prepare(facts) {
      const { couponId, voucher } = await mintToHandOver(facts)
      return {
        send: (process, at) => handOver(facts, voucher, process + at),
        judge: (answers) => judgeHandOver(facts, couponId, answers, 1),
      }
    },
  },
  'hand-over against claim and refresh: one of them has it': {
    async prepare(facts) {
      const { couponId, voucher } = await mintToHandOver(facts)
      const { nonce } = voucher
      return {
        send(process, at) {
          const which = (process + at) % 3
          if (which === 0) return handOver(facts, voucher, process)
          return which === 1 ? claimRequest(nonce) : refreshRequest(nonce, newKey())
        },
        async judge(answers) {
          const claims = answers.filter(succeeded).length
          const fresh = answers.filter(({ status }) => status === 201).length
          return [
            ...expect(`${claims} claims and ${fresh} refreshes won`, claims + fresh <= 1),
            ...(await judgeHandOver(facts, couponId, answers, 1 - claims - fresh)),
          ]
        },
      }
    },
  },
  'claims of a till that is removed: those that were answered stand, and no later one is taken': {
    async prepare(facts) {
      const { tillToken, nonces, removal } = await openTill(facts)
      return {
        send(process, at) {
          if (process === 0 && at === 0) return removal
          const nonce = nonces[process * facts.each + at] ?? ''
          return { ...claimRequest(nonce), headers: bearer(tillToken) }
        },
        async judge(answers) {
          const [removed, ...claims] = answers
          const wins = claims.filter(succeeded).length
          const refused = claims.filter(({ status }) => status === 403)
          const statuses = await Promise.all(nonces.map((nonce) => statusOf(facts.base, nonce)))
          const claimed = statuses.filter((status) => status === 'claimed').length
          const later = await Promise.all(
            facts.bases.map(async (base) => {
              const body = { nonce: nonces[0] }
              return (await call(base, '/api/coupons/claim', { body, token: tillToken })).json.code
            }),
          )
          return [
            ...expect(`the removal got ${removed?.status}`, removed?.status === 200),
            ...expect(
              `${wins} claims and ${refused.length} refusals`,
              wins + refused.length === claims.length,
            ),
            ...codes(refused, 403, 'till-not-allowed'),
            ...expect(`${wins} claims answered, ${claimed} stand`, wins === claimed),
            ...expect(
              `later claims: ${later}`,
              later.every((code) => code === 'till-not-allowed'),
            ),
          ]
        },
      }
    },
  },
  'mints of a minter that is removed: those that were answered stand, and no later one is made': {
    async prepare(facts) {
      const { token, tillToken, couponId, removal, nonces } = await openTill(facts)
      const mint = mintRequest(tillToken, { couponId })
      return {
        send: (process, at) => (process === 0 && at === 0 ? removal : mint),
        async judge(answers) {
          const [removed, ...mints] = answers
          const wins = mints.filter(({ status }) => status === 200).length
          const refused = mints.filter(({ status }) => status === 403 || status === 404).length
          const minted = await mintedOf(facts.base, couponId, token)
          const later = await Promise.all(
            facts.bases.map(
              async (base) =>
                (await call(base, '/api/coupons/mint', { body: { couponId }, token: tillToken }))
                  .status,
            ),
          )
          return [
            ...expect(`the removal got ${removed?.status}`, removed?.status === 200),
            ...expect(`${wins} mints and ${refused} refusals`, wins + refused === mints.length),
            ...expect(`${wins} answered, ${minted} minted`, minted === nonces.length + wins),
            ...expect(
              `later mints: ${later}`,
              later.every((status) => status >= 400),
            ),
          ]
        },
      }
    },
  },
  'a session that ends at one node: mints that were answered stand, and every node refuses it': {
    async prepare({ bases, base, operate }) {
      const signer = newSigner()
      const token = await openSession(base, signer, origin)
      const couponId = await createDefinition(base, token)
      const list = createProof(signer, `${origin}/api/coupons`)
      return {
        send: () => mintRequest(token, { couponId }),
        beside: () => operate('sessions', { key: signer.pubkey }),
        async judge(answers) {
          const wins = answers.filter(({ status }) => status === 200).length
          await until('every node refuses the session', async () => {
            const all = await Promise.all(bases.map((one) => call(one, '/api/coupons', { token })))
            return all.every(({ status }) => status === 401)
          })
          const headers = { Authorization: nostrHeader(list) }
          const { json } = await call(base, '/api/coupons', { headers })
          const minted = json.coupons.find(({ id }: Json) => id === couponId)?.minted
          const refused = answers.filter(({ status }) => status === 401)
          return [
            ...expect(
              `${wins} mints and ${refused.length} refusals`,
              wins + refused.length === answers.length,
            ),
            ...codes(refused, 401, 'auth-session-expired'),
            ...expect(`${wins} answered, ${minted} minted`, wins === minted),
          ]
        },
      }
    },
  },
}

/** A voucher of a coupon of its own, by which inboxes show it. */
async function mintToHandOver({ base, token }: Facts) {
  const couponId = await createDefinition(base, token)
  const { nonce, voucher } = await mintOne(base, token, couponId)
  return { couponId, voucher: { nonce, voucher } }
}

/** A voucher goes to one of the names. */
function handOver({ holders }: Facts, voucher: object, which: number): RaceRequest {
  const name = holders[which % holders.length]?.name
  return { path: `/api/lud16/${name}/cb`, body: { action: 'voucher', ...voucher } }
}

/** As many names as wanted have it, at every node, and they are those that were told so. */
async function judgeHandOver(
  { bases, holders }: Facts,
  handedOver: string,
  answers: RaceAnswer[],
  wanted: number,
): Promise<string[]> {
  const accepted = answers.filter(({ text }) => text.includes('"ACCEPTED"')).length
  const problems = expect(`${accepted} accepted, wanted ${wanted}`, accepted > 0 === wanted > 0)
  for (const base of bases) {
    const boxes = await Promise.all(holders.map((holder) => openInbox(base, holder, origin)))
    const held = boxes.filter((box) => box.some(({ couponId }) => couponId === handedOver)).length
    problems.push(...expect(`${held} names have it, wanted ${wanted}`, held === wanted))
  }
  return problems
}
