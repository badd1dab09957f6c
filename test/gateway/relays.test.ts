/** The connection to a relay outside, against relays that are slow, silent, lying or broken. */
import { afterEach, describe, expect, test } from 'bun:test'
import { createServer } from 'node:net'
import { limits } from '../../src/base/limits.ts'
import { openRelayLink, type RelayLink } from '../../src/gateway/relays.ts'
import { createNameCheck } from '../../src/gateway/relays-names.ts'
import type { NostrEvent } from '../../src/nostr/event.ts'
import { parseFilter } from '../../src/nostr/filter.ts'
import { newSigner, verifyEvent } from '../support/client.ts'
import { secondsNow } from '../support/clock.ts'
import { createEvent } from '../support/events.ts'
import {
  type Behaviour,
  type FaultyRelay,
  startFaultyRelay,
  stopRelays,
  tell,
} from '../support/faulty-relay.ts'
import { until } from '../support/until.ts'

const manager = newSigner()
const links: RelayLink[] = []
const losses: string[] = []
afterEach(async () => {
  for (const link of links.splice(0)) link.close()
  losses.splice(0)
  await stopRelays()
})

function open(
  url: string,
  connected: () => void = () => undefined,
  names = createNameCheck(),
): RelayLink {
  const link = openRelayLink({
    url,
    signer: manager,
    verify: verifyEvent,
    names,
    now: secondsNow,
    steady: () => performance.now(),
    connected,
    lost: (why) => losses.push(why),
  })
  links.push(link)
  return link
}

async function connect(behaviour: Behaviour = {}) {
  const relay = startFaultyRelay(behaviour)
  const link = open(relay.url)
  await until('connected', () => link.connectedAt() !== null)
  return { relay, link }
}

/** A query that the test ends, if the relay does not. */
const ask = (
  link: RelayLink,
  value: object = {},
  { signal = new AbortController().signal, most = 100 } = {},
) => {
  const filter = parseFilter(value)
  if (!filter) throw new Error('not a filter')
  return link.query([filter], { signal, most, bytesMax: limits.fetchBytesMax })
}

/** A query that is ended once everything was read that the relay had sent by then. */
async function askAndEnd(relay: FaultyRelay, link: RelayLink) {
  const time = new AbortController()
  const answer = ask(link, {}, { signal: time.signal })
  await until('asked', () => relay.received.some(([type]) => type === 'REQ'))
  // Its OK comes behind those messages.
  await link.publish(createEvent())
  time.abort()
  return answer
}

describe('publishing', () => {
  test('sends the event unchanged, and returns the answer of the relay', async () => {
    const { relay, link } = await connect()
    const event = createEvent()
    expect(await link.publish(event)).toEqual({ accepted: true, message: '' })
    expect(relay.stored).toEqual([event])
    expect(await link.publish(event)).toEqual({ accepted: true, message: 'duplicate: have it' })
  })

  test('returns every refusal word for word, on one short line', async () => {
    const words = ['blocked: no', 'error: \u001b[31mred\nline', `pow: ${'x'.repeat(5000)}`]
    const { link } = await connect({
      event(socket, { id, content }) {
        tell(socket, 'OK', id, false, words[Number(content)])
        return true
      },
    })
    const answers = await Promise.all(
      words.map((_, at) => link.publish(createEvent({ content: String(at) }))),
    )
    expect(answers.map((answer) => answer?.accepted)).toEqual([false, false, false])
    expect(answers[0]?.message).toBe('blocked: no')
    expect(answers[1]?.message).toBe('error:  [31mred line')
    expect(answers[2]?.message).toHaveLength(limits.relayErrorCharsMax)
  })

  test('returns no answer when the relay closes the connection instead', async () => {
    const { link } = await connect({
      event(socket) {
        socket.close()
        return true
      },
    })
    expect(await link.publish(createEvent())).toBeNull()
    expect(link.lastError()).toContain('closed')
  })

  test('returns no answer while there is no connection', async () => {
    let attempts = 0
    const server = createServer((socket) => {
      attempts++
      socket.destroy()
    })
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
    const address = server.address()
    const link = open(`ws://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`)
    expect(await link.publish(createEvent())).toBeNull()
    await until('it is tried again', () => attempts === 2)
    server.close()
    // Reported once, however often it is tried.
    expect(losses).toEqual(['no connection'])
    expect(link.lastError()).toBe('no connection')
  })

  test('ignores an OK for another event, and takes an OK without a boolean as a refusal', async () => {
    const { link } = await connect({
      event(socket, { id }) {
        tell(socket, 'OK', 'f'.repeat(64), true, '')
        tell(socket, 'OK', id, 'true', 'error: odd')
        return true
      },
    })
    expect(await link.publish(createEvent())).toEqual({ accepted: false, message: 'error: odd' })
  })

  test('returns no answer after ten seconds', async () => {
    const { link } = await connect({ event: () => true })
    const started = performance.now()
    expect(await link.publish(createEvent())).toBeNull()
    expect((performance.now() - started) / 1000).toBeGreaterThan(limits.relayAnswerSeconds - 0.1)
  })

  test('passes on late OKs for a bounded number of events', async () => {
    const late: [string, boolean][] = []
    const kept: string[] = []
    const { relay, link } = await connect({
      event(socket, { id }) {
        kept.push(id)
        if (id === last)
          for (const one of kept) tell(socket, 'OK', one, one !== 'n2', 'blocked: no')
        return true
      },
    })
    const names = Array.from({ length: limits.relayLateMax + 2 }, (_, at) => `n${at}`)
    const give = (id: string) =>
      link.publish({ ...createEvent({ content: '' }), id }, ({ accepted }) =>
        late.push([id, accepted]),
      )
    const last = 'last'
    const answers = await Promise.all(names.map(give))
    expect(answers.every((answer) => answer === null)).toBe(true)
    expect(await give(last)).toEqual({ accepted: true, message: 'blocked: no' })
    // The two oldest are forgotten, and each of the others is passed on once.
    expect(late).toHaveLength(limits.relayLateMax)
    expect(late[0]).toEqual(['n2', false])
    expect(late[1]).toEqual(['n3', true])
    expect(relay.received).toHaveLength(names.length + 1)
    expect(link.connectedAt()).not.toBeNull()
  })
})

describe('a relay that asks for authentication (NIP-42)', () => {
  const guarded = (answer: (event: NostrEvent) => [boolean, string]): Behaviour => {
    let known = false
    return {
      open: (socket) => tell(socket, 'AUTH', 'word'),
      auth(socket, event) {
        const [accepted, message] = answer(event)
        known = accepted
        tell(socket, 'OK', event.id, accepted, message)
      },
      event(socket, { id }) {
        if (!known) tell(socket, 'OK', id, false, 'auth-required: who are you?')
        return !known
      },
      req(socket, name) {
        if (!known) tell(socket, 'CLOSED', name, 'auth-required: who are you?')
        return !known
      },
    }
  }

  test('gets it with the manager key, and then the refused messages again at once', async () => {
    const proofs: NostrEvent[] = []
    const relay = startFaultyRelay(
      guarded((event) => {
        proofs.push(event)
        return [true, '']
      }),
    )
    const link = open(relay.url)
    await until('connected', () => link.connectedAt() !== null)
    const event = createEvent()
    const [said, found] = await Promise.all([link.publish(event), ask(link, { ids: [event.id] })])
    expect(said).toEqual({ accepted: true, message: '' })
    expect(found.ended).toBe('eose')
    expect(proofs).toHaveLength(1)
    const [proof] = proofs as [NostrEvent]
    expect(verifyEvent(proof)).toBe(true)
    expect(proof).toMatchObject({
      pubkey: manager.pubkey,
      kind: 22_242,
      tags: [
        ['relay', relay.url],
        ['challenge', 'word'],
      ],
    })
  })

  test('and does not accept ours keeps its refusals, and the process goes on', async () => {
    const { link } = await connect(guarded(() => [false, 'restricted: not you']))
    expect(await link.publish(createEvent())).toEqual({
      accepted: false,
      message: 'auth-required: who are you?',
    })
    expect(await ask(link)).toEqual({
      events: [],
      ended: { refused: 'auth-required: who are you?' },
    })
  })

  test('only after a refusal gets the event again once it accepted', async () => {
    let known = false
    const { relay, link } = await connect({
      event(socket, { id }) {
        if (known) return false
        tell(socket, 'OK', id, false, 'auth-required: who are you?')
        tell(socket, 'AUTH', 'word')
        return true
      },
      auth(socket, { id }) {
        known = true
        tell(socket, 'OK', id, true, '')
      },
    })
    const event = createEvent()
    expect(await link.publish(event)).toEqual({ accepted: true, message: '' })
    expect(relay.times(event.id)).toBe(2)
  })

  test('and still refuses afterwards gets the event once more, and no third time', async () => {
    const { relay, link } = await connect({
      open: (socket) => tell(socket, 'AUTH', 'word'),
      auth: (socket, { id }) => tell(socket, 'OK', id, true, ''),
      event(socket, { id }) {
        tell(socket, 'OK', id, false, 'auth-required: who are you?')
        return true
      },
    })
    await until('known', () => relay.received.some(([type]) => type === 'AUTH'))
    // Its answer comes behind the OK that says so.
    await ask(link)
    const event = createEvent()
    expect(await link.publish(event)).toMatchObject({ accepted: false })
    expect(relay.times(event.id)).toBe(2)
  })

  test('without end is disconnected', async () => {
    const { relay, link } = await connect({
      auth: (socket) => tell(socket, 'AUTH', 'again'),
      req(socket) {
        tell(socket, 'AUTH', 'first')
        return true
      },
    })
    await ask(link)
    expect(link.lastError()).toBe('it asks who we are too often')
    expect(relay.received.filter(([type]) => type === 'AUTH')).toHaveLength(
      limits.relayChallengesMax,
    )
  })
})

describe('a query', () => {
  test('ends with EOSE, and closes what it opened', async () => {
    const { relay, link } = await connect()
    const event = createEvent()
    relay.stored.push(event)
    expect(await ask(link, { ids: [event.id] })).toEqual({ events: [event], ended: 'eose' })
    await until('closed', () => relay.received.some(([type]) => type === 'CLOSE'))
  })

  test('ends with the signal when the relay is silent, and closes what it opened', async () => {
    const { relay, link } = await connect({ req: () => true })
    const signal = AbortSignal.timeout(50)
    expect(await ask(link, {}, { signal })).toEqual({ events: [], ended: 'silent' })
    await until('closed', () => relay.received.some(([type]) => type === 'CLOSE'))
  })

  test('keeps the events that came before the signal', async () => {
    const event = createEvent()
    const { relay, link } = await connect({
      req(socket, name) {
        tell(socket, 'EVENT', name, event)
        return true
      },
    })
    expect(await askAndEnd(relay, link)).toEqual({ events: [event], ended: 'silent' })
  })

  test.each([
    ['CLOSED', 'rate-limited: slow down'],
    ['NOTICE', 'I do not like you'],
  ])('ends with the refusal when the relay sends %s instead of an answer', async (type, words) => {
    const { relay, link } = await connect({
      req(socket, name) {
        tell(socket, type, ...(type === 'CLOSED' ? [name, words] : [words]))
        return true
      },
    })
    expect(await askAndEnd(relay, link)).toEqual({ events: [], ended: { refused: words } })
  })

  test('drops events that are invalid, not requested, or repeated', async () => {
    const good = createEvent({ kind: 7 })
    const lies: unknown[] = [
      { ...good, content: 'other' },
      { ...good, sig: '0'.repeat(128) },
      { ...createEvent({ kind: 7 }), id: 'f'.repeat(64) },
      createEvent({ kind: 8 }),
      { ...good, tags: 'x' },
      null,
      'event',
      [],
    ]
    const { link } = await connect({
      req(socket, name) {
        for (const lie of [...lies, good, { ...good, extra: 'field' }])
          tell(socket, 'EVENT', name, lie)
        tell(socket, 'EOSE', name)
        return true
      },
    })
    expect(await ask(link, { kinds: [7] })).toEqual({ events: [good], ended: 'eose' })
  })

  test('takes no more events than the limit, and no more bytes than there is room for', async () => {
    const events = Array.from({ length: 30 }, () => createEvent({ content: 'x'.repeat(100_000) }))
    const { link } = await connect({
      req(socket, name) {
        for (const event of events) tell(socket, 'EVENT', name, event)
        tell(socket, 'EOSE', name)
        return true
      },
    })
    expect((await ask(link, {}, { most: 5 })).events).toHaveLength(5)
    const bytesMax = 1_000_000
    const asked = { signal: new AbortController().signal, most: 100, bytesMax }
    const { events: found, ended } = await link.query([{ tags: new Map() }], asked)
    expect([found.length, ended]).toEqual([9, 'eose'])
  })

  test('takes one event even if it exceeds the room', async () => {
    const { relay, link } = await connect()
    relay.stored.push(createEvent({ content: 'x'.repeat(1000) }))
    const asked = { signal: new AbortController().signal, most: 100, bytesMax: 100 }
    const { events, ended } = await link.query([{ tags: new Map() }], asked)
    expect([events, ended]).toEqual([relay.stored, 'eose'])
  })

  test('waits while the relay has as many queries as it allows', async () => {
    let open = 0
    let most = 0
    const { link } = await connect({
      req(socket, name) {
        most = Math.max(most, ++open)
        setTimeout(() => {
          open--
          tell(socket, 'EOSE', name)
        }, 5)
        return true
      },
    })
    const answers = await Promise.all(Array.from({ length: 60 }, () => ask(link)))
    expect(answers.every(({ ended }) => ended === 'eose')).toBe(true)
    expect(most).toBeLessThanOrEqual(limits.relayQueriesMax)
  })

  test('for announcements has its own place while others wait in vain', async () => {
    const { relay, link } = await connect({ req: (_socket, _name, message) => !isOurs(message) })
    const isOurs = ([, , filter]: unknown[]) => JSON.stringify(filter).includes('30078')
    const time = new AbortController()
    const fetches = Array.from({ length: 2 * limits.relayQueriesMax }, () =>
      ask(link, {}, { signal: time.signal }),
    )
    await until('all places are taken', () => relay.received.length === limits.relayQueriesMax)
    const bytesMax = 1000
    const { signal } = new AbortController()
    const asked = { signal, most: 1, bytesMax, ours: true as const }
    const { ended } = await link.query([{ kinds: [30_078], tags: new Map() }], asked)
    expect(ended).toBe('eose')
    const requests = relay.received.filter(([type]) => type === 'REQ')
    expect(requests).toHaveLength(limits.relayQueriesMax + 1)
    time.abort()
    await Promise.all(fetches)
  })

  test('may still be answered after we ended it, without a loss of the connection', async () => {
    const event = createEvent()
    const asked: string[] = []
    const { relay, link } = await connect({
      req(socket, name) {
        asked.push(name)
        if (asked.length <= 3) return true
        for (const late of asked.slice(0, 3)) {
          for (let at = 0; at < limits.fetchMax; at++) tell(socket, 'EVENT', late, event)
          tell(socket, 'EOSE', late)
        }
        return false
      },
    })
    for (let at = 0; at < 3; at++) {
      const signal = AbortSignal.timeout(50)
      expect((await ask(link, {}, { signal, most: limits.fetchMax })).ended).toBe('silent')
    }
    expect((await ask(link)).ended).toBe('eose')
    expect(relay.connections()).toBe(1)
    expect(link.lastError()).toBeNull()
  })

  test('may still be answered after we cut it, without a loss of the connection', async () => {
    const events = Array.from({ length: limits.fetchMax }, () => createEvent())
    const { relay, link } = await connect()
    relay.stored.push(...events)
    const rounds = Math.ceil(limits.relayStrayMax / limits.fetchMax) + 1
    for (let at = 0; at < rounds; at++) {
      const { signal } = new AbortController()
      const few = { signal, most: limits.fetchMax, bytesMax: 2000 }
      const { events: found, ended } = await link.query([{ tags: new Map() }], few)
      expect([found.length < 10, ended]).toEqual([true, 'eose'])
    }
    // The last event ends each query, and its EOSE comes afterwards.
    const filter = { ids: [events[0]?.id] }
    for (let at = 0; at <= limits.relayStrayMax; at++) {
      expect((await ask(link, filter, { most: 1 })).events).toHaveLength(1)
    }
    expect(link.lastError()).toBeNull()
    expect(relay.connections()).toBe(1)
  })

  test('is closed by its signal, also after a notice', async () => {
    const { relay, link } = await connect({
      req(socket) {
        tell(socket, 'NOTICE', 'the service ends at midnight')
        return true
      },
    })
    const { ended } = await askAndEnd(relay, link)
    expect(ended).toEqual({ refused: 'the service ends at midnight' })
    await until('closed', () => relay.received.some(([type]) => type === 'CLOSE'))
  })

  test('ends when the relay closes the connection in the middle', async () => {
    const event = createEvent()
    const { link } = await connect({
      req(socket, name) {
        tell(socket, 'EVENT', name, event)
        socket.close()
        return true
      },
    })
    expect(await ask(link)).toEqual({ events: [event], ended: 'silent' })
  })
})

describe('a misbehaving relay is disconnected and tried again later', () => {
  const wrongs: [string, Behaviour['req'], string][] = [
    ['sends ten megabytes', (socket) => socket.send('x'.repeat(10_000_000)) !== 0, 'too long'],
    ['sends bytes in place of text', (socket) => socket.send(new Uint8Array(9)) !== 0, 'no text'],
    [
      'floods with notices',
      (socket) => {
        for (let at = 0; at <= limits.relayStrayMax; at++) tell(socket, 'NOTICE', 'hello')
        return true
      },
      'nobody asked for',
    ],
    [
      'floods with garbage',
      (socket) => {
        for (let at = 0; at <= limits.relayStrayMax; at++) socket.send('[[[')
        return true
      },
      'nobody asked for',
    ],
    [
      'floods with events that are not valid',
      (socket, name) => {
        const event = { ...createEvent(), sig: '1'.repeat(128) }
        for (let at = 0; at <= limits.relayWrongMax; at++) tell(socket, 'EVENT', name, event)
        return true
      },
      'not valid or not asked for',
    ],
  ]
  test.each(wrongs)('one that %s', async (_, req, why) => {
    const { relay, link } = await connect(req ? { req } : {})
    expect((await ask(link)).ended).toBe('silent')
    expect(link.lastError()).toContain(why)
    await until('connected again', () => relay.connections() === 2)
  })
})

describe('the connection', () => {
  test('is a single one, and is restored after the relay was away', async () => {
    const relay = startFaultyRelay()
    let times = 0
    const link = open(relay.url, () => void times++)
    await until('connected', () => link.connectedAt() !== null)
    await relay.stop()
    await until('lost', () => link.connectedAt() === null)
    const again = startFaultyRelay({}, relay.port)
    await until('connected again', () => link.connectedAt() !== null)
    expect([times, again.connections(), again.open()]).toEqual([2, 1, 1])
    expect(await link.publish(createEvent())).toMatchObject({ accepted: true })
  })

  test('fails when the upgrade is never answered', async () => {
    const relay = startFaultyRelay({ upgrade: () => false })
    const link = open(relay.url)
    await until('given up', () => link.lastError() === 'no connection in time')
  })

  test('ends with the link, also before it is open', async () => {
    const relay = startFaultyRelay()
    const link = open(relay.url)
    link.close()
    const later = open(relay.url)
    await until('the later one is connected', () => later.connectedAt() !== null)
    await until('it is the only one', () => relay.open() === 1)
    expect(link.connectedAt()).toBeNull()
    const { relay: other, link: made } = await connect()
    made.close()
    await until('closed', () => other.open() === 0)
  })

  test('offers no compression, so that few bytes never become many', async () => {
    const { promise, resolve } = Promise.withResolvers<string>()
    const server = createServer((socket) => socket.on('data', (data) => resolve(String(data))))
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
    const address = server.address()
    open(`ws://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`)
    expect((await promise).toLowerCase()).not.toContain('sec-websocket-extensions')
    server.close()
  })
})

describe('the name of a relay', () => {
  type Answer = string | Error | null
  /** Lookups that answer with an address, an error, or never. */
  const lookups = (cAres: Answer, libc: Answer = null) => {
    const asked: string[] = []
    const names = createNameCheck((host, { backend }) => {
      asked.push(`${backend} ${host}`)
      const answer = backend === 'libc' ? libc : cAres
      if (answer === null) return new Promise(() => undefined)
      return typeof answer === 'string' ? Promise.resolve(answer) : Promise.reject(answer)
    })
    return { asked, names }
  }
  const said = (code: string) => Object.assign(new Error(code), { code })

  test.each<[string, string, Answer, Answer, boolean]>([
    ['an address', '[::1]', null, null, true],
    ['this machine', 'localhost', null, null, true],
    ['one of /etc/hosts or a name server', 'relay', '10.0.0.7', null, true],
    ['one that the name server does not know', 'relay', said('DNS_ENOTFOUND'), null, true],
    ['one where there is no name server', 'relay', said('DNS_ECONNREFUSED'), null, true],
    ['one whose name server hangs', 'relay.example', null, '10.0.0.7', false],
    ['one whose name server timed out', 'relay.example', said('DNS_ETIMEOUT'), '10.0.0.7', false],
    ['one of mDNS while the name server hangs', 'relay.local', null, '10.0.0.7', true],
    ['one that mDNS does not know, either', 'relay.local', null, said('DNS_ENOTFOUND'), false],
  ])('%s (%s) is dialled or left for later', async (_, host, cAres, libc, dialled) => {
    const { names, asked } = lookups(cAres, libc)
    expect(await names(host)).toBe(dialled)
    // No thread waits for a dead name server.
    if (!host.endsWith('.local')) expect(asked.filter((one) => one.startsWith('libc'))).toEqual([])
  })

  test('occupies at most one thread at a time', async () => {
    const { names, asked } = lookups(said('DNS_ETIMEOUT'))
    expect(await Promise.all([names('a.local'), names('b.local')])).toEqual([false, false])
    expect(await names('c.local')).toBe(false)
    expect(asked.filter((one) => one.startsWith('libc'))).toEqual(['libc a.local'])
  })

  test('is looked up again while the relay is not dialled', async () => {
    const relay = startFaultyRelay()
    const answers = [false, true]
    const link = open(
      relay.url,
      () => undefined,
      async () => answers.shift() ?? true,
    )
    await until('left for later', () => link.lastError() !== null)
    expect(link.lastError()).toBe('the name server does not answer')
    await until('connected', () => link.connectedAt() !== null)
  })
})
