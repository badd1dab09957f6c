import { expect, test } from 'bun:test'
import {
  createProof,
  type Json,
  newSigner,
  nostrHeader,
  percentBenefit,
} from '../../support/client.ts'
import type { Caller, Documented } from '../../support/documented.ts'
import { samples } from '../../support/pictures.ts'
import { startServer } from '../../support/server.ts'
import { announcementOf } from './announcements.ts'

const route = 'POST /api/auth/session'

function proofOf({ server, signer }: Caller, options: Json) {
  const proof = createProof(signer, `${server.url}/api/auth/session`, options)
  return { headers: { Authorization: nostrHeader(proof) } }
}

/** Sessions, and every route that asks who is calling. */
export function testSessions({ operations, scenario, newCaller }: Documented): void {
  scenario('a session, with a body and without', async () => {
    const { ask } = await newCaller()
    await ask(route, { signer: newSigner() })
    await ask(route, { signer: newSigner(), body: {} })
  })

  scenario('a session without a proof that can be read', async () => {
    const { refused, token } = await newCaller()
    await refused(route, 'auth-missing')
    await refused(route, 'auth-missing', { token })
    await refused(route, 'auth-malformed', { headers: { Authorization: 'Nostr e30=' } })
    await refused(route, 'auth-too-large', {
      headers: { Authorization: `Nostr ${'a'.repeat(8200)}` },
    })
    await refused(route, 'too-large', { signer: newSigner(), body: 'x'.repeat(20_000) })
  })

  scenario('a session with a proof of another time, request or use', async () => {
    const caller = await newCaller()
    const { ask, refused } = caller
    const old = proofOf(caller, { method: 'POST', createdAt: 1_700_000_000 })
    await refused(route, 'auth-expired', old)
    await refused(route, 'auth-url-mismatch', proofOf(caller, { method: 'PUT' }))
    const once = proofOf(caller, { method: 'POST' })
    await ask(route, once)
    await refused(route, 'auth-replay', once)
  })

  const needed = (security: object[]) => security.every((one) => Object.keys(one).length > 0)
  const managed = operations.filter(
    ({ operation: { security } }) => security.length > 1 && needed(security),
  )
  test('some routes ask for a session', () => {
    expect(managed.length).toBeGreaterThan(14)
  })
  for (const { route } of managed) {
    scenario(`${route} to a stranger`, async () => {
      const { refused } = await newCaller()
      await refused(route, 'auth-missing', { token: '' })
      await refused(route, 'auth-session-invalid', { token: 'x.y.z' })
    })
  }

  scenario('every route for listed merchants, to others', async () => {
    const at = await startServer({ env: { MERCHANTS: newSigner().pubkey, RATE_LIMIT: 'off' } })
    const { refused, signer } = await newCaller({ at })
    const id = crypto.randomUUID()
    const bodies: Record<string, Json> = {
      'POST /api/coupons': { name: 'x', benefit: percentBenefit },
      'PATCH /api/coupons/{id}': { name: 'x' },
      'POST /api/posters': { couponId: id },
      'PATCH /api/posters/{id}': { paused: true },
      'POST /api/coupons/minters': { pubkey: newSigner().pubkey },
      'PUT /api/coupons/discovery': { event: announcementOf(at, signer) },
      'POST /api/pictures': samples.png,
      'PATCH /api/shop': { name: 'x' },
    }
    const closed = operations.filter(({ operation }) =>
      operation['x-refusals'].includes('merchant-not-allowed'),
    )
    expect(closed.length).toBeGreaterThan(0)
    for (const { route, path } of closed) {
      const asked = path
        .replace('{id}', id)
        .replace('{key}', signer.pubkey)
        .replace('{name}', 'A'.repeat(22))
      const body = bodies[route]
      await refused(route, 'merchant-not-allowed', { path: asked, ...(body && { body }) })
    }
  })
}
