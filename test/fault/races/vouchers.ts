/** Races for one voucher, one coupon, one key or one signature. */
import {
  call,
  createDefinition,
  createProof,
  type Json,
  mintOne,
  newKey,
  nostrHeader,
} from '../../support/client.ts'
import { origin } from '../../support/nodes.ts'
import {
  bearer,
  claimRequest,
  codes,
  counts,
  expect,
  mintRequest,
  type Race,
  refreshRequest,
} from './race.ts'

/** Races for one voucher, one coupon and one signature, by the sentence that each proves. */
export const vouchers: Record<string, Race> = {
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
  'a limit that comes and goes meanwhile: no mint is forgotten': {
    async prepare({ base, bases, token }) {
      const couponId = await createDefinition(base, token, { maxUses: 3 })
      const path = `/api/coupons/${couponId}`
      const limit = (maxUses: number | null) => ({
        ...{ method: 'PATCH', headers: bearer(token), body: { maxUses } },
      })
      const limits = [null, 8, null]
      return {
        send: (process, at) =>
          at === 0 && process < limits.length
            ? { path, ...limit(limits[process] ?? null) }
            : mintRequest(token, { couponId }),
        async judge(answers) {
          const mints = answers.filter(({ text }) => !text.startsWith('{"coupon":'))
          const won = mints.filter(({ status }) => status === 200).length
          const { json } = await call(base, '/api/coupons', { token })
          const { minted } = json.coupons.find(({ id }: Json) => id === couponId)
          // Two more places: so many of another crowd get one.
          await call(base, path, limit(won + 2))
          const later = Array.from({ length: 4 * bases.length }, (_, at) =>
            call(bases[at % bases.length] ?? base, '/api/coupons/mint', {
              body: { couponId },
              token,
            }),
          )
          const statuses = (await Promise.all(later)).map(({ status }) => status)
          return [
            ...expect(`${mints.length} mints`, answers.length - mints.length === limits.length),
            ...codes(mints, 409, 'coupon-exhausted'),
            ...expect(`${won} answered, ${minted} minted`, minted === won),
            ...expect(
              `${statuses} with two places left`,
              statuses.filter((status) => status === 200).length === 2,
            ),
          ]
        },
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
    async prepare({ base, token, processes, each }) {
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
    async prepare({ signer, couponId }) {
      const body = { couponId }
      const proof = createProof(signer, `${origin}/api/coupons/mint`, {
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
    async prepare({ signer }) {
      const proof = createProof(signer, `${origin}/api/coupons`)
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
