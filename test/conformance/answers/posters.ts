import { createDefinition, type Json, newSigner, withKey } from '../../support/client.ts'
import { secondsNow } from '../../support/clock.ts'
import type { Caller, Documented } from '../../support/documented.ts'

const route = 'POST /api/posters'
const edit = 'PATCH /api/posters/{id}'
const taking = 'POST /api/posters/{id}/take'
const unknown = { path: '/api/posters/none' }

export function testPosters({ scenario, newCaller }: Documented): void {
  const hang = async ({ server, token, ask }: Caller, limits: Json = {}, terms: Json = {}) => {
    const couponId = await createDefinition(server.url, token, terms)
    const { poster } = await ask(route, { body: { couponId, ...limits } })
    const path = `/api/posters/${poster.id}`
    return { couponId, path, take: { path: `${path}/take`, signer: newSigner(), ...withKey() } }
  }

  scenario('a poster is created, listed, changed, shown and deleted', async () => {
    const caller = await newCaller()
    const { ask } = caller
    const at = { startsAt: 5, endsAt: secondsNow() + 99 }
    const limits = { label: 'Vidriera', perPerson: 2, perDay: 3, total: 4, timeZone: 'UTC', ...at }
    const { path } = await hang(caller, limits)
    await ask('GET /api/posters')
    await ask(edit, { path, body: { paused: true, perDay: null, label: null } })
    await ask('GET /api/posters/{id}', { path })
    await ask('DELETE /api/posters/{id}', { path })
  })

  scenario('a poster that makes no sense, or is not there', async () => {
    const caller = await newCaller()
    const { refused } = caller
    const { path, couponId } = await hang(caller)
    await refused(route, 'body-invalid', { body: 'no' })
    await refused(route, 'field-invalid', { body: { couponId, perPerson: 0 } })
    await refused(route, 'expiry-past', { body: { couponId, endsAt: 1 } })
    await refused(route, 'coupon-unknown', { body: { couponId: crypto.randomUUID() } })
    await refused(edit, 'nothing-to-change', { path, body: {} })
    await refused(edit, 'field-invalid', { path, body: { total: 0 } })
    await refused(edit, 'poster-unknown', { ...unknown, body: { total: 1 } })
    await refused('GET /api/posters/{id}', 'poster-unknown', unknown)
    await refused('DELETE /api/posters/{id}', 'poster-unknown', unknown)
    await refused(taking, 'poster-unknown', { path: '/api/posters/none/take', ...withKey() })
    await refused(taking, 'idempotency-key-invalid', { path: `${path}/take` })
  })

  scenario('as many posters as a merchant may have', async () => {
    const caller = await newCaller()
    const { couponId } = await hang(caller)
    const more = Array.from({ length: 199 }, () => caller.ask(route, { body: { couponId } }))
    await Promise.all(more)
    await caller.refused(route, 'posters-full', { body: { couponId } })
  })

  scenario('a voucher is taken once, and again under its key', async () => {
    const caller = await newCaller()
    const { take, couponId } = await hang(caller)
    await caller.ask(taking, take)
    await caller.ask(taking, take)
    await caller.refused(taking, 'poster-taken', { ...take, ...withKey() })
    await caller.ask('GET /api/coupons/{id}/mints', { path: `/api/coupons/${couponId}/mints` })
  })

  scenario('a voucher that a poster does not give', async () => {
    const caller = await newCaller()
    const soon = secondsNow() + 900
    const cases: [code: string, limits: Json, changes: Json][] = [
      ['poster-ended', {}, { endsAt: 1 }],
      ['poster-paused', {}, { paused: true }],
      ['not-now', {}, { startsAt: soon }],
      ['poster-exhausted', { total: 1 }, { label: 'x' }],
      ['poster-today', { perDay: 1 }, { label: 'x' }],
    ]
    for (const [code, limits, body] of cases) {
      const { path, take } = await hang(caller, limits)
      await caller.ask(taking, { ...take, signer: newSigner() })
      await caller.ask(edit, { path, body })
      await caller.refused(taking, code, take)
    }
    const { take } = await hang(caller, {}, { maxUses: 1 })
    await caller.ask(taking, { ...take, signer: newSigner() })
    await caller.refused(taking, 'coupon-exhausted', take)
  })
}
