import type { Signer } from '../../../src/nostr/event.ts'
import { type Json, newSigner } from '../../support/client.ts'
import { secondsNow } from '../../support/clock.ts'
import type { Caller, Documented } from '../../support/documented.ts'
import type { TestServer } from '../../support/server.ts'

const route = 'PUT /api/coupons/discovery'

/** An announcement (kind 30078) that a server takes, with some fields changed. */
export function announcementOf(
  { url }: TestServer,
  signer: Signer,
  changes: Json = {},
  content: unknown = undefined,
) {
  const addresses = ['mint', 'claim', 'refresh'].map((last) => [
    `${last}Url`,
    `${url}/api/coupons/${last}`,
  ])
  return signer.sign({
    kind: 30_078,
    created_at: secondsNow(),
    tags: [['d', 'lacrypta.merchant/coupons']],
    content: JSON.stringify(content ?? { v: 2, ...Object.fromEntries(addresses) }),
    ...changes,
  })
}

function announcing({ server, signer }: Caller) {
  return (changes?: Json, content?: unknown) => {
    return { body: { event: announcementOf(server, signer, changes, content) } }
  }
}

export function testAnnouncements({ scenario, newCaller }: Documented): void {
  scenario('an announcement is made, repeated and withdrawn', async () => {
    const caller = await newCaller()
    const { ask, refused } = caller
    const made = announcing(caller)()
    await ask(route, made)
    await ask(route, made)
    await ask('GET /api/coupons')
    await ask('DELETE /api/coupons/discovery')
    await refused('DELETE /api/coupons/discovery', 'announcement-unknown')
  })

  scenario('an announcement that is older or ahead of its time', async () => {
    const caller = await newCaller()
    const { ask, refused } = caller
    const announce = announcing(caller)
    await ask(route, announce())
    await refused(route, 'announcement-older', announce({ created_at: 5 }))
    await refused(route, 'announcement-future', announce({ created_at: secondsNow() + 2000 }))
  })

  scenario('an announcement by nobody who may', async () => {
    const caller = await newCaller()
    const { refused } = caller
    const { event } = announcing(caller)().body
    await refused(route, 'announcement-author', { body: { event }, signer: newSigner() })
    await refused(route, 'announcement-id', { body: { event: { ...event, content: '{}' } } })
    await refused(route, 'announcement-signature', {
      body: { event: { ...event, sig: '1'.repeat(128) } },
    })
  })

  scenario('an announcement of something else', async () => {
    const caller = await newCaller()
    const { refused } = caller
    const announce = announcing(caller)
    await refused(route, 'announcement-kind', announce({ kind: 1 }))
    await refused(route, 'announcement-d', announce({ tags: [] }))
    await refused(route, 'announcement-content', announce({}, []))
    await refused(route, 'announcement-url', announce({}, { mintUrl: 'http://example.com' }))
    await refused(route, 'field-invalid', { body: { event: 5 } })
    await refused(route, 'field-invalid', { body: { event: { id: 1 } } })
    await refused(route, 'body-invalid', { body: 'null' })
  })
}
