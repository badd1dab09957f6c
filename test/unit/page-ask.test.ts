/** Whether a page says that it cannot reach its service. */
import { afterEach, expect, test } from 'bun:test'
import { fetchDelivery } from '../../src/client/announcement.ts'
import { anyone } from '../../src/client/anyone.ts'
import { ApiError } from '../../src/client/api-error.ts'
import { createAsk } from '../../src/client/ask.ts'

const realFetch = globalThis.fetch
afterEach(() => Object.assign(globalThis, { fetch: realFetch }))

/** A redirect as a browser tells it to a page. */
const hidden = { type: 'opaqueredirect', status: 0, headers: new Headers() } as Response

const answers: [what: string, answer: () => Response, reached: boolean][] = [
  ['a broken connection', () => Promise.reject(new TypeError('down')) as never, false],
  ['the redirect of a portal', () => hidden, false],
  ['a refusal', () => Response.json({ code: 'unavailable', error: 'x' }, { status: 503 }), true],
]
test.each(answers)('%s says whether the service is reached', async (_, answer, reached) => {
  Object.assign(globalThis, { fetch: async () => answer() })
  const told: boolean[] = []
  const ask = createAsk({
    caller: anyone,
    describe: () => '',
    onReached: (one) => told.push(one),
  })
  await ask('GET /api/coupons/manager', undefined)
  expect(told).toEqual([reached])
})

test.each(['signed-out', 'key-expired'] as const)('%s says nothing against the network', (code) => {
  expect(new ApiError(code).reached).toBe(true)
})

const looks: [code: string, status: number, states: unknown][] = [
  ['event-unknown', 404, []],
  ['overloaded', 503, null],
  ['shutting-down', 503, null],
  ['rate-limited', 429, null],
  // A gateway.
  ['forbidden', 403, null],
  ['not-found', 404, null],
]
test.each(looks)(
  '%s of a published event is %i, and its delivery is %j',
  async (code, status, states) => {
    Object.assign(globalThis, {
      fetch: async () => Response.json({ code, error: 'x' }, { status }),
    })
    expect(await fetchDelivery('ab')).toEqual(states as never)
  },
)
