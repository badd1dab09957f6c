import { describe, expect, test } from 'bun:test'
import { fetchEvents, select } from '../../src/gateway/fetch.ts'
import type { QueryAnswer } from '../../src/gateway/relays-conversation.ts'
import type { Gateway } from '../../src/gateway/service.ts'
import type { NostrEvent } from '../../src/nostr/event.ts'
import type { Filter } from '../../src/nostr/filter.ts'
import { newSigner } from '../support/client.ts'
import { createEvent } from '../support/events.ts'

const now = 1_800_000_000
const signer = newSigner()
const at = (createdAt: number, more: Parameters<typeof createEvent>[0] = {}) =>
  createEvent({ createdAt, signer, ...more })

describe('the selected events', () => {
  test('contain each event once, newest first, at the same second the lower id first', () => {
    const [old, fresh] = [at(5), at(9)]
    const twins = [at(7, { content: 'a' }), at(7, { content: 'b' })].toSorted((a, b) =>
      a.id < b.id ? -1 : 1,
    )
    const found = [old, ...twins.toReversed(), fresh, { ...old }]
    expect(select(found, now)).toEqual([fresh, ...twins, old] as NostrEvent[])
  })

  test.each<[string, Parameters<typeof createEvent>[0]]>([
    ['a profile', { kind: 0 }],
    ['a replaceable kind', { kind: 10_002 }],
    ['an addressable one', { kind: 30_078, tags: [['d', 'x']] }],
    ['an addressable one without a name', { kind: 30_078 }],
  ])('the newest of %s', (_, more) => {
    const [old, fresh] = [at(5, more), at(9, more)]
    expect(select([fresh, old], now)).toEqual([fresh])
    expect(select([old, fresh], now)).toEqual([fresh])
  })

  test('contain, of two replaceable ones of the same second, the one with the lower id', () => {
    const twins = ['a', 'b', 'c'].map((content) => at(5, { kind: 0, content }))
    const [lowest] = twins.toSorted((a, b) => (a.id < b.id ? -1 : 1))
    expect(select(twins, now)).toEqual([lowest as NostrEvent])
  })

  test('contain events of other names, authors and kinds beside each other', () => {
    const events = [
      at(9, { kind: 30_078, tags: [['d', 'x']] }),
      at(8, { kind: 30_078, tags: [['d', 'y']] }),
      at(7, { kind: 30_079, tags: [['d', 'x']] }),
      at(6, { kind: 30_078, tags: [['d', 'x']], signer: newSigner() }),
      at(5, { kind: 1 }),
      at(4, { kind: 1 }),
    ]
    expect(select(events.toReversed(), now)).toEqual(events)
  })

  test('contain no expired event and no voucher', () => {
    const expiring = (seconds: number) => at(5, { tags: [['expiration', String(now + seconds)]] })
    const lasting = expiring(1)
    expect(select([expiring(-1), expiring(0), lasting, at(5, { kind: 20_402 })], now)).toEqual([
      lasting,
    ])
  })
})

const asker = () => ({ address: '203.0.113.5', gone: new AbortController().signal })

describe('the sources of a fetch', () => {
  const event = at(5)
  const eose: QueryAnswer = { events: [event], ended: 'eose' }
  const empty: QueryAnswer = { events: [], ended: 'eose' }
  const silent: QueryAnswer = { events: [], ended: 'silent' }
  const late: QueryAnswer = { events: [event], ended: 'silent' }
  const refused: QueryAnswer = { events: [], ended: { refused: 'blocked: no' } }

  const ask = (answers: QueryAnswer[], local: Gateway['local'] = null, filter: object = {}) => {
    const asked: Filter[] = []
    const askOutside: Gateway['askOutside'] = ([first]) => {
      if (first) asked.push(first)
      return answers.map((answer) => Promise.resolve(answer))
    }
    const superseded: Gateway['superseded'] = async (places) => places.map(() => false)
    const gateway = { now: () => now, local, superseded, askOutside } as Gateway
    const result = fetchEvents(gateway, filter, asker())
    return { asked, result }
  }

  test.each<[string, QueryAnswer[], object]>([
    ['all of them', [eose, eose], { answered: 2, silent: 0, events: [event] }],
    ['one of two', [eose, silent], { answered: 1, silent: 1, events: [event] }],
    ['one, with nothing to say', [empty, silent], { answered: 1, silent: 1, events: [] }],
    ['one that did not finish', [late], { answered: 0, silent: 1, events: [event] }],
    ['one, and one that refuses', [eose, refused], { answered: 2, silent: 0, events: [event] }],
  ])('%s', async (_, answers, expected) => {
    expect(await ask(answers).result).toEqual(expected as never)
  })

  test.each<[string, QueryAnswer[], string]>([
    ['nobody', [], 'relays-silent'],
    ['only silence', [silent, silent], 'relays-silent'],
    ['only refusals', [refused, refused], 'relays-refused'],
    ['a refusal and silence', [refused, silent], 'relays-refused'],
  ])('%s: the code says so, unless the store is a source', async (_, answers, code) => {
    await expect(ask(answers).result).rejects.toMatchObject({ code })
    expect((await ask(answers, async () => [event]).result).events).toEqual([event])
  })

  test('limit the queries to the maximum of a relay', async () => {
    const limitOf = (filter: object) => {
      const { asked, result } = ask([empty], null, filter)
      return result.then(() => asked[0]?.limit)
    }
    expect(await limitOf({})).toBe(100)
    expect(await limitOf({ limit: 9999 })).toBe(500)
    expect(await limitOf({ limit: 3 })).toBe(3)
    expect(await limitOf({ limit: 0 })).toBeUndefined()
  })

  test('report no result of a store that does not answer in time', async () => {
    const superseded = () => new Promise<boolean[]>(() => undefined)
    const askOutside = () => [Promise.resolve(eose)]
    const local = async () => [event]
    const gateway = { now: () => now, local, superseded, askOutside } as unknown as Gateway
    await expect(fetchEvents(gateway, {}, asker())).rejects.toMatchObject({
      code: 'overloaded',
      detail: { retryAfter: 1 },
    })
  })

  test('are cancelled when the store fails', async () => {
    let ended = false
    const askOutside: Gateway['askOutside'] = (_, { signal }) => {
      signal.addEventListener('abort', () => {
        ended = true
      })
      return [new Promise(() => undefined)]
    }
    const local = () => Promise.reject(new Error('the thread is gone'))
    const gateway = { now: () => now, local, askOutside } as unknown as Gateway
    await expect(fetchEvents(gateway, {}, asker())).rejects.toThrow('gone')
    expect(ended).toBe(true)
  })
})
