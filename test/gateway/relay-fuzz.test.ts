/** Random messages of a relay: the connection may be given up, nothing is thrown, nothing false gets in. */
import { expect, test } from 'bun:test'
import { limits } from '../../src/base/limits.ts'
import { createConversation } from '../../src/gateway/relays-conversation.ts'
import type { NostrEvent } from '../../src/nostr/event.ts'
import { parseFilter } from '../../src/nostr/filter.ts'
import { chooseSeed, Random } from '../fuzz/random.ts'
import { newSigner, verifyEvent } from '../support/client.ts'
import { secondsNow } from '../support/clock.ts'
import { createEvent } from '../support/events.ts'

const manager = newSigner()
const authors = [newSigner(), newSigner()]

const seed = chooseSeed()
test(`no message of a relay throws or gets a false event in, SEED=${seed}`, async () => {
  const random = new Random(seed)
  for (let round = 0; round < 40; round++) await converse(random)
})

/** One connection: some queries and events under way, then a few hundred messages. */
async function converse(random: Random): Promise<void> {
  let abandoned = false
  const sent: string[] = []
  const conversation = createConversation({
    url: 'wss://relay.example',
    signer: manager,
    verify: verifyEvent,
    now: secondsNow,
    send: (text) => sent.push(text),
    abandon: () => {
      abandoned = true
    },
  })
  const events = Array.from({ length: 6 }, () =>
    createEvent({ kind: random.below(3), signer: random.pick(authors) }),
  )
  const wanted = parseFilter({ kinds: [1, 2] })
  if (!wanted) throw new Error('not a filter')
  const end = new AbortController()
  const bytesMax = 20_000
  const queries = Array.from({ length: random.below(25) }, () =>
    conversation.query([wanted], { signal: end.signal, most: 1 + random.below(4), bytesMax }),
  )
  const published = events.slice(0, 3).map((event) => conversation.publish(event, () => undefined))

  for (let at = 0; at < 200 && !abandoned; at++) conversation.receive(message(random, events, sent))
  end.abort()
  conversation.end()

  for (const { events: found, ended } of await Promise.all(queries)) {
    expect(new Set(found.map(({ id }) => id)).size).toBe(found.length)
    for (const event of found) {
      expect([1, 2]).toContain(event.kind)
      expect(verifyEvent(event)).toBe(true)
      expect(new Set(Object.keys(event))).toEqual(new Set(sevenFields))
    }
    if (typeof ended === 'object')
      expect(ended.refused.length).toBeLessThanOrEqual(limits.relayErrorCharsMax)
  }
  for (const answer of await Promise.all(published)) {
    if (answer)
      expect([typeof answer.accepted, typeof answer.message]).toEqual(['boolean', 'string'])
  }
  for (const text of sent) {
    const [type, value] = JSON.parse(text) as [string, NostrEvent]
    expect(['REQ', 'EVENT', 'CLOSE', 'AUTH']).toContain(type)
    // Only authentications are ever signed for a relay.
    if (type === 'AUTH') expect(value).toMatchObject({ kind: 22_242, content: '' })
  }
}

const sevenFields = ['content', 'created_at', 'id', 'kind', 'pubkey', 'sig', 'tags']

function message(random: Random, events: readonly NostrEvent[], sent: readonly string[]): unknown {
  const event = spoil(random, random.pick(events))
  const id = random.chance(0.7) ? `q${1 + random.below(20)}` : junk(random)
  const whole = random.pick<() => unknown>([
    () => ['EVENT', id, event],
    () => ['EVENT', id, event],
    () => ['EOSE', id],
    () => ['CLOSED', id, random.pick(['auth-required: x', 'error: y', junk(random)])],
    () => ['OK', idIn(random, sent), random.pick([true, false, junk(random)]), junk(random)],
    () => ['OK', random.pick(events).id, false, random.pick(['auth-required: x', 'blocked: y'])],
    () => ['AUTH', random.chance(0.2) ? junk(random) : 'word'],
    () => ['NOTICE', junk(random)],
    () => [junk(random), junk(random), junk(random)],
    () => junk(random),
  ])()
  const text = JSON.stringify(whole) ?? ''
  if (random.chance(0.03)) return random.bytes(random.below(50))
  if (random.chance(0.1)) return text.slice(0, random.below(text.length + 1))
  return text
}

/** The id of a message that we sent, such as an AUTH. */
function idIn(random: Random, sent: readonly string[]): unknown {
  if (sent.length === 0) return junk(random)
  const [, value] = JSON.parse(random.pick(sent)) as [string, { id?: string }]
  return value?.id ?? junk(random)
}

function spoil(random: Random, event: NostrEvent): unknown {
  if (random.chance(0.6)) return event
  const field = random.pick(sevenFields)
  return { ...event, [field]: junk(random) }
}

function junk(random: Random): unknown {
  return random.pick<unknown>([
    null,
    true,
    -1,
    1e300,
    '',
    'x'.repeat(random.below(400)),
    '\u0000\u2028',
    '__proto__',
    [],
    [['']],
    {},
    { id: 1 },
    'f'.repeat(64),
  ])
}
