/** The events of the embedded relay beside a plain list that is searched from end to end. */
import { expect } from 'bun:test'
import { limits } from '../../src/base/limits.ts'
import type { NostrEvent } from '../../src/nostr/event.ts'
import { type Filter, parseFilter } from '../../src/nostr/filter.ts'
import { addressOf, classOf, expirationOf } from '../../src/nostr/kind-class.ts'
import { chooseSeed, Random } from '../fuzz/random.ts'
import type { It, RelayTx, Stores } from './harness.ts'

const now = 1_800_000_000

function open(stores: Stores<RelayTx>) {
  const insert = (event: NostrEvent) =>
    stores.write(
      async (tx) => {
        const stored = await tx.events.insert(event)
        if (stored === 'stored' && event.kind === 5) await tx.events.delete(event)
        return stored
      },
      [{ author: event.pubkey }],
    )
  const find = (filter: Filter, at: number, most: number) =>
    stores.read((tx) => tx.events.find(filter, at, most))
  const countOf = (filter: Filter, at: number, rowsMax?: number) =>
    stores.read((tx) => tx.events.count(filter, at, rowsMax))
  const idsOf = async (filter: Record<string, unknown>, most = 500) => {
    const found = await find(filterOf(filter), now, most)
    return found.events.map(({ event }) => event.id)
  }
  return { insert, find, countOf, idsOf }
}

function filterOf(value: Record<string, unknown>): Filter {
  const filter = parseFilter(value)
  if (!filter) throw new Error(`not a filter: ${JSON.stringify(value)}`)
  return filter
}

/** Longer than a row of an index may be, and hard to compress. */
const longTexts = [2_700, 9_000, 200_000].map((length) =>
  Array.from({ length: Math.ceil(length / 64) }, (_, at) => Bun.SHA256.hash(`${at}`, 'hex')).join(
    '',
  ),
)

let serial = 0
/** An event without a right signature: the store does not look. */
function note(parts: Partial<NostrEvent> = {}): NostrEvent {
  const id = (++serial).toString(16).padStart(64, '0')
  const sig = 'f'.repeat(128)
  return { id, pubkey: alice, created_at: now, kind: 1, tags: [], content: '', sig, ...parts }
}
const alice = 'a'.repeat(64)
const bob = 'b'.repeat(64)
const id = (text: string) => text.padStart(64, '0')

export function events(it: It<RelayTx>): void {
  it('a replaceable event is replaced by a newer one and, at the same second, by a lower id', async (stores) => {
    const { insert, idsOf } = open(stores)
    const first = note({ kind: 10_002, id: id('5'), created_at: now - 5 })
    expect(await insert(first)).toBe('stored')
    expect(await insert({ ...first, id: id('6') })).toBe('older')
    expect(await insert({ ...first, id: id('4') })).toBe('stored')
    expect(await insert({ ...first, id: id('7'), created_at: now - 6 })).toBe('older')
    expect(await insert({ ...first, id: id('9'), created_at: now })).toBe('stored')
    expect(await idsOf({ kinds: [10_002] })).toEqual([id('9')])
    // Another kind of the same author has a place of its own.
    expect(await insert({ ...first, id: id('8'), kind: 10_003 })).toBe('stored')
    expect(await idsOf({ kinds: [10_002, 10_003] })).toEqual([id('9'), id('8')])
  })

  it('addressable events differ by their d tag, and a missing one is the empty one', async (stores) => {
    const { insert, idsOf } = open(stores)
    const base = { kind: 30_078, created_at: now - 3 }
    await insert(note({ ...base, id: id('11'), tags: [['d', 'a']] }))
    await insert(note({ ...base, id: id('12'), tags: [['d', 'b']] }))
    await insert(note({ ...base, id: id('13') }))
    await insert(note({ ...base, id: id('14'), tags: [['d', '']], created_at: now }))
    await insert(note({ ...base, id: id('15'), tags: [['d', 'a']], pubkey: bob }))
    expect(await idsOf({ kinds: [30_078] })).toEqual([id('14'), id('11'), id('12'), id('15')])
  })

  it('a deletion affects events of its own author only', async (stores) => {
    const { insert, idsOf } = open(stores)
    const [mine, others] = [note(), note({ pubkey: bob })]
    for (const event of [mine, others]) await insert(event)
    const tags = [
      ['e', mine.id],
      ['e', others.id],
      ['k', '1'],
    ]
    const request = note({ kind: 5, tags })
    await insert(request)
    expect(await idsOf({ ids: [mine.id, others.id] })).toEqual([others.id])
    expect(await idsOf({ kinds: [5] })).toEqual([request.id])
    expect(await insert(mine)).toBe('deleted')
  })

  it('an earlier deletion by a stranger does not keep an event out', async (stores) => {
    const { insert } = open(stores)
    const event = note()
    await insert(note({ kind: 5, pubkey: bob, tags: [['e', event.id]] }))
    expect(await insert(event)).toBe('stored')
  })

  it('an earlier deletion by the author keeps its event out', async (stores) => {
    const { insert } = open(stores)
    const event = note()
    await insert(note({ kind: 5, tags: [['e', event.id]] }))
    expect(await insert(event)).toBe('deleted')
  })

  it('a deletion of a deletion has no effect, in either order', async (stores) => {
    const { insert, idsOf } = open(stores)
    const first = note({ kind: 5, tags: [['e', id('99')]] })
    await insert(first)
    await insert(note({ kind: 5, tags: [['e', first.id]] }))
    expect(await idsOf({ ids: [first.id] })).toEqual([first.id])
    const later = note({ kind: 5, tags: [['e', id('98')]] })
    await insert(note({ kind: 5, tags: [['e', later.id]] }))
    expect(await insert(later)).toBe('stored')
  })

  it('a deletion by address covers versions up to its own second', async (stores) => {
    const { insert, idsOf } = open(stores)
    const at = (created_at: number) => note({ kind: 30_078, created_at, tags: [['d', 'x:y']] })
    await insert(at(now - 10))
    await insert(note({ kind: 5, created_at: now - 5, tags: [['a', `30078:${alice}:x:y`]] }))
    expect(await idsOf({ kinds: [30_078] })).toEqual([])
    expect(await insert(at(now - 5))).toBe('deleted')
    expect(await insert(at(now - 4))).toBe('stored')
    await insert(
      note({ kind: 5, created_at: now - 4, pubkey: bob, tags: [['a', `30078:${alice}:x:y`]] }),
    )
    expect(await idsOf({ kinds: [30_078] })).toHaveLength(1)
  })

  it('an event is served until its expiration and deleted after it, with its tags', async (stores) => {
    const { insert, idsOf, find } = open(stores)
    const kept = note({
      tags: [
        ['expiration', String(now + 1)],
        ['t', 'x'],
      ],
    })
    const over = note({
      tags: [
        ['expiration', String(now)],
        ['t', 'x'],
      ],
    })
    for (const event of [kept, over]) await insert(event)
    expect(await idsOf({ '#t': ['x'] })).toEqual([kept.id])
    expect((await find(filterOf({}), now + 1, 10)).events).toEqual([])
    expect(await stores.write((tx) => tx.events.prune(now, 10))).toBe(1)
    expect(await stores.write((tx) => tx.events.prune(now, 10))).toBe(0)
    const tags = await stores.read(({ sql }) => sql.query('SELECT letter FROM tags').all())
    expect(tags).toHaveLength(1)
  })

  it('an event is superseded by its deletion and by a newer version only', async (stores) => {
    const { insert } = open(stores)
    const superseded = (event: NostrEvent) =>
      stores.read((tx) => {
        const { id, kind, created_at, pubkey } = event
        return tx.events.superseded({ id, kind, created_at, pubkey, d: addressOf(event) })
      })
    const version = (created_at: number, text: string) =>
      note({ kind: 30_078, created_at, id: id(text), tags: [['d', 'x']] })
    const deleted = note()
    await insert(version(now, '5'))
    await insert(note({ kind: 5, tags: [['e', deleted.id]] }))
    const outcomes: boolean[] = []
    for (const event of [
      deleted,
      note(),
      note({ kind: 10_002 }),
      version(now - 1, '6'),
      version(now, '6'),
      version(now, '5'),
      version(now, '4'),
      version(now + 1, '6'),
    ]) {
      outcomes.push(await superseded(event))
    }
    expect(outcomes).toEqual([true, false, false, true, true, false, false, false])
  })

  it('of simultaneous writers of one event one stores it, and of two versions the newer stays', async (stores) => {
    const { insert, idsOf } = open(stores)
    const twice = note()
    const stored = await Promise.all([insert(twice), insert(twice)])
    expect(stored.sort()).toEqual(['duplicate', 'stored'])
    const versions = [3, 1, 2].map((number) => note({ kind: 10_002, id: id(String(number)) }))
    await Promise.all(versions.map(insert))
    expect(await idsOf({ kinds: [10_002] })).toEqual([id('1')])
  })

  it('an invalid kind, and a key of another length, are refused', async (stores) => {
    await stores.refuses((tx) => tx.events.insert(note({ kind: 65_536 })))
    await stores.refuses((tx) => tx.events.insert(note({ kind: -1 })))
    await stores.refuses((tx) => tx.events.insert(note({ pubkey: 'ab' })))
  })

  it('a d tag of any length and with any character is an address of its own', async (stores) => {
    const { insert, idsOf } = open(stores)
    for (const d of [...longTexts, '\\', '\\x00', '\\\\', 'a\0b', 'a\uFFFF0b', "'"]) {
      const pubkey = (++serial).toString(16).padStart(64, 'd')
      const at = (created_at: number, tag: string) =>
        note({ kind: 30_078, pubkey, created_at, tags: [['d', tag]] })
      const [old, newer, other] = [at(now - 9, d), at(now - 8, d), at(now - 9, `${d}!`)]
      const outcomes: string[] = []
      for (const event of [old, newer, old, other]) outcomes.push(await insert(event))
      expect(outcomes).toEqual(['stored', 'stored', 'older', 'stored'])
      const found = (tag: string) => idsOf({ authors: [pubkey], kinds: [30_078], '#d': [tag] })
      expect([await found(d), await found(`${d}!`)]).toEqual([[newer.id], [other.id]])
      const deletion = (created_at: number) =>
        note({ kind: 5, pubkey, created_at, tags: [['a', `30078:${pubkey}:${d}`]] })
      await insert(deletion(now - 8))
      await insert(deletion(now - 7))
      expect([await found(d), await found(`${d}!`)]).toEqual([[], [other.id]])
      expect([await insert(at(now - 7, d)), await insert(at(now - 6, d))]).toEqual([
        'deleted',
        'stored',
      ])
    }
  })

  it('an undone transaction leaves nothing', async (stores) => {
    const { insert } = open(stores)
    const old = note({ tags: [['t', 'x']] })
    await insert(old)
    await stores.undone(async (tx) => {
      await tx.events.insert(note({ tags: [['t', 'y']] }))
      await tx.events.delete(note({ kind: 5, tags: [['e', old.id]] }))
    })
  })

  it('expired events are deleted from the oldest on, so many at most', async (stores) => {
    const { insert } = open(stores)
    for (const seconds of [3, 1, 2]) {
      await insert(note({ id: id(String(seconds)), tags: [['expiration', String(now - seconds)]] }))
    }
    const prune = () => stores.write((tx) => tx.events.prune(now, 2))
    expect(await prune()).toBe(2)
    const left = await stores.read(({ sql }) =>
      sql.query<{ event_id: Uint8Array }, []>('SELECT event_id FROM events').all(),
    )
    expect(left.map(({ event_id }) => event_id.toHex())).toEqual([id('1')])
    expect(await prune()).toBe(1)
  })
}

export function queries(it: It<RelayTx>): void {
  const seed = chooseSeed()
  it(`stores and finds the same as a list that is searched from end to end, SEED=${seed}`, async (stores) => {
    const random = new Random(seed)
    const { insert, find } = open(stores)
    const model = new Model()
    const sent: NostrEvent[] = []
    for (let step = 0; step < 800; step++) {
      const event =
        random.chance(0.05) && sent.length > 0 ? random.pick(sent) : randomEvent(random, sent)
      // Deletions may name events that come later.
      if (random.chance(0.1)) sent.push(event)
      else {
        sent.push(event)
        expect(await insert(event)).toBe(model.insert(event) as never)
      }
      if (step % 2 === 0) continue
      const asked = randomFilter(random, sent)
      const most = random.pick([1, 2, 3, 7, 500])
      const found = await find(filterOf(asked), now, most)
      const expected = model.find(filterOf(asked), most)
      expect({ asked, most, ids: found.events.map(({ event }) => event.id) }).toEqual({
        asked,
        most,
        ids: expected.map((one) => one.id),
      })
      expect(found.events.map(({ text }) => JSON.parse(text))).toEqual(expected)
    }
  })

  it('an addressable event with several d tags is found by each of them', async (stores) => {
    const { insert, idsOf } = open(stores)
    const long = 'z'.repeat(300)
    const base = { kind: 30_078, created_at: now }
    const tags = [['d', 'first'], ['d'], ['d', ''], ['d', long]]
    await insert(note({ ...base, id: id('11'), tags }))
    await insert(note({ ...base, id: id('12'), tags: [['d', `${long}!`]] }))
    await insert(note({ ...base, id: id('13'), tags: [['d', long]], pubkey: bob }))
    // Many other events of the author and of each value, so that the query goes by address.
    for (let other = 0; other < 50; other++) {
      await insert(note({ ...base, tags: [['d', String(other)]] }))
      await insert(
        note({
          kind: 1,
          tags: [
            ['d', ''],
            ['d', 'first'],
            ['d', long],
          ],
          pubkey: bob,
        }),
      )
    }
    const at = (d: string) => idsOf({ authors: [alice], kinds: [30_078], '#d': [d] })
    for (const d of ['first', '', long]) expect(await at(d)).toEqual([id('11')])
  })

  it('a filter with search matches nothing', async (stores) => {
    const { insert, idsOf } = open(stores)
    await insert(note())
    expect(await idsOf({ search: '' })).toEqual([])
  })

  it('a filter that matches few of many events is answered from the index with the fewest rows', async (stores) => {
    const { find, countOf } = open(stores)
    const rare = note({
      kind: 7,
      pubkey: bob,
      tags: [
        ['t', 'rare'],
        ['p', alice],
      ],
      created_at: 1,
    })
    await stores.write((tx) => tx.events.insert(rare))
    const common = Array.from({ length: limits.relayRowsReadMax + 500 }, (_, at) => {
      const tags = at % 2 === 0 ? [['p', alice]] : []
      const kind = [1, 2, 4][at % 3]
      return note({ kind, pubkey: bob, tags, created_at: 1000 + at } as Partial<NostrEvent>)
    })
    // An operation that takes longer than a caller waits is refused.
    for (let from = 0; from < common.length; from += 500) {
      await stores.write(async (tx) => {
        await Promise.all(common.slice(from, from + 500).map((event) => tx.events.insert(event)))
      })
    }
    const asked = [
      { authors: [bob], '#t': ['rare'] },
      { '#p': [alice], '#t': ['rare'] },
      { kinds: [7], '#p': [alice] },
      { kinds: [7], authors: [bob], '#p': [alice] },
      { authors: [bob], kinds: [1, 7], '#t': ['rare'] },
    ]
    for (const filter of asked) {
      const found = await find(filterOf(filter), now, 10)
      expect({ filter, ids: found.events.map(({ event }) => event.id) }).toEqual({
        filter,
        ids: [rare.id],
      })
      expect(found.rowsRead).toBeLessThan(1200)
    }
    const hopeless = await find(
      filterOf({ authors: [bob], '#p': [alice], kinds: [1, 2] }),
      now,
      500,
    )
    expect(hopeless.events).toHaveLength(500)
    const all = await countOf(filterOf({ authors: [bob] }), now)
    const most = limits.relayRowsReadMax
    expect([all.rowsRead, all.ids.length, all.truncated]).toEqual([most, most, true])
    const part = await countOf(filterOf({ authors: [bob] }), now, 500)
    expect([part.rowsRead, part.ids.length, part.truncated]).toEqual([500, 500, true])
  })

  it('large events are read only as far as one answer reaches, and their rows count for more', async (stores) => {
    const { find, countOf } = open(stores)
    const chars = 200_000
    const large = Array.from({ length: 150 }, (_, at) =>
      note({
        pubkey: at % 2 === 0 ? alice : bob,
        created_at: 1000 + at,
        content: 'x'.repeat(chars),
      }),
    )
    await stores.write(async (tx) => {
      for (const event of large) await tx.events.insert(event)
    })
    const carried = Math.floor(limits.relayAnswerCharsMax / (chars + 500))
    const newest = large.toReversed().map(({ id }) => id)
    const units = Math.floor(chars / limits.relayRowChars)
    for (const filter of [{}, { authors: [alice, bob] }]) {
      const found = await find(filterOf(filter), now, 500)
      expect(found.events.map(({ event }) => event.id)).toEqual(newest.slice(0, carried))
      expect(found.rowsRead).toBeLessThan(units * (carried + 2) * 3)
    }
    const counted = await countOf(filterOf({}), now)
    expect(counted.truncated).toBe(true)
    expect(counted.ids.length).toBeLessThan(limits.relayRowsReadMax / units + 2)
  })

  it('the newest of a thousand authors are found with little more than the requested rows', async (stores) => {
    const { find } = open(stores)
    const many = Array.from({ length: 1000 }, (_, at) => at.toString(16).padStart(64, 'c'))
    await stores.write(async (tx) => {
      for (let at = 0; at < 10_000; at++) {
        const pubkey = many[(at * 7) % 1000] ?? ''
        await tx.events.insert(note({ pubkey, created_at: 1000 + Math.floor(at / 3) }))
      }
    })
    const all = await find(filterOf({ until: now }), now, 200)
    const found = await find(filterOf({ authors: many }), now, 200)
    expect(found.events).toEqual(all.events)
    expect(found.rowsRead).toBeLessThan(4000)
  })

  it('of many events of one second the lowest ids are found, without the others if the index orders them', async (stores) => {
    const { find } = open(stores)
    const random = new Random(seed)
    const tags = [['t', 'second']]
    const crowd = Array.from({ length: 1000 }, (_, at) =>
      // The digest of a number: ids do not come in the order of arrival.
      note({ id: Bun.SHA256.hash(`${at}`, 'hex'), tags, pubkey: random.pick([alice, bob]) }),
    )
    await stores.write(async (tx) => {
      for (const event of crowd) await tx.events.insert(event)
    })
    const lowest = (events: NostrEvent[]) =>
      events
        .map((event) => event.id)
        .sort((a, b) => (a < b ? -1 : 1))
        .slice(0, 10)
    const ofAlice = crowd.filter(({ pubkey }) => pubkey === alice)
    const asked: [Record<string, unknown>, NostrEvent[], rows: number][] = [
      [{}, crowd, 10],
      [{ kinds: [1] }, crowd, 10],
      [{ authors: [alice] }, ofAlice, 10],
      [{ authors: [alice], kinds: [1] }, ofAlice, 10],
      [{ authors: [alice, bob] }, crowd, 30],
      [{ authors: [alice, bob], kinds: [1, 2] }, crowd, 40],
      [{ '#t': ['second'] }, crowd, 1000],
    ]
    for (const [filter, events, rows] of asked) {
      const found = await find(filterOf(filter), now, 10)
      expect({ filter, ids: found.events.map(({ event }) => event.id) }).toEqual({
        filter,
        ids: lowest(events),
      })
      expect(found.rowsRead).toBeLessThanOrEqual(rows)
    }
  })
}

// ── The model

/** The rules of NIP-01, 09 and 40, over a list. */
class Model {
  events: NostrEvent[] = []
  #deletions: NostrEvent[] = []

  insert(event: NostrEvent): string {
    if (this.events.some((other) => other.id === event.id)) return 'duplicate'
    if (event.kind !== 5 && this.#deletions.some((request) => covers(request, event))) {
      return 'deleted'
    }
    const place = placeOf(event)
    const current = this.events.find((other) => place !== null && placeOf(other) === place)
    if (current) {
      if (compare(current, event) < 0) return 'older'
      this.events.splice(this.events.indexOf(current), 1)
    }
    this.events.push(event)
    if (event.kind === 5) {
      this.#deletions.push(event)
      this.events = this.events.filter((other) => other.kind === 5 || !covers(event, other))
    }
    return 'stored'
  }

  find(filter: Filter, most: number): NostrEvent[] {
    return this.events
      .filter((event) => (expirationOf(event) ?? now + 1) > now && selects(filter, event))
      .sort(compare)
      .slice(0, most)
  }
}

function compare(a: NostrEvent, b: NostrEvent): number {
  return b.created_at - a.created_at || (a.id < b.id ? -1 : 1)
}

function placeOf({ kind, pubkey, tags }: NostrEvent): string | null {
  const kindClass = classOf(kind)
  if (kindClass === 'replaceable') return `${kind}:${pubkey}:`
  if (kindClass !== 'addressable') return null
  return `${kind}:${pubkey}:${tags.find(([name]) => name === 'd')?.[1] ?? ''}`
}

function covers(request: NostrEvent, event: NostrEvent): boolean {
  if (request.pubkey !== event.pubkey) return false
  return request.tags.some(
    ([name, value]) =>
      (name === 'e' && value === event.id) ||
      (name === 'a' && value === placeOf(event) && event.created_at <= request.created_at),
  )
}

function selects({ ids, authors, kinds, since, until, tags }: Filter, event: NostrEvent): boolean {
  return (
    (!ids || ids.includes(event.id)) &&
    (!authors || authors.includes(event.pubkey)) &&
    (!kinds || kinds.includes(event.kind)) &&
    (since === undefined || event.created_at >= since) &&
    (until === undefined || event.created_at <= until) &&
    [...tags].every(([letter, values]) =>
      event.tags.some(
        ([name, value = null]) => name === letter && values.includes(value as string),
      ),
    )
  )
}

// ── Random events and filters

const authors = Array.from({ length: 6 }, (_, at) => (at + 1).toString(16).repeat(64))
const kinds = [0, 1, 1, 1, 3, 5, 7, 10_002, 30_078, 30_078]
const words = [
  '',
  'x',
  'y',
  'tag with space',
  'ñandú',
  'a\0b',
  'z'.repeat(300),
  `${'z'.repeat(300)}!`,
  ...longTexts.slice(0, 1),
  'a\\',
]

function randomEvent(random: Random, known: NostrEvent[]): NostrEvent {
  const kind = random.pick(kinds)
  const pubkey = random.pick(authors)
  const tags: string[][] = []
  if (kind === 5) {
    for (let left = 1 + random.below(3); left > 0 && known.length > 0; left--) {
      const target = random.pick(known)
      const place = placeOf(target)
      tags.push(place !== null && random.chance(0.5) ? ['a', place] : ['e', target.id])
    }
  } else {
    for (let left = random.below(4); left > 0; left--) {
      const name = random.pick(['t', 'd', 'p', 'T', 'long'])
      tags.push(random.chance(0.1) ? [name] : [name, random.pick(words)])
    }
    if (random.chance(0.1)) tags.push(['expiration', String(now + random.pick([-1, 0, 1, 900]))])
  }
  const created_at = now - random.below(40)
  return note({ id: Buffer.from(random.bytes(32)).toString('hex'), kind, pubkey, tags, created_at })
}

function randomFilter(random: Random, known: NostrEvent[]): Record<string, unknown> {
  const some = <T>(list: readonly T[]) =>
    Array.from({ length: random.below(4) }, () => random.pick(list))
  return {
    ...(random.chance(0.15) && { ids: some(known).map((event) => event.id) }),
    ...(random.chance(0.4) && { authors: some(authors) }),
    ...(random.chance(0.4) && { kinds: some(kinds) }),
    ...(random.chance(0.3) && { '#t': some(words) }),
    ...(random.chance(0.2) && { '#d': some(words) }),
    ...(random.chance(0.1) && { '#p': some(words) }),
    ...(random.chance(0.3) && { since: now - random.below(45) }),
    ...(random.chance(0.3) && { until: now - random.below(45) }),
  }
}
