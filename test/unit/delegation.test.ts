import { describe, expect, test } from 'bun:test'
import { openSchnorr } from '../../src/crypto/schnorr.ts'
import { createHashVerifier } from '../../src/crypto/sign-event.ts'
import {
  admits,
  authorOf,
  authorThrough,
  authorTowards,
  delegationHash,
  parseConditions,
} from '../../src/nostr/delegation.ts'
import type { NostrEvent } from '../../src/nostr/event.ts'
import { delegationTag, newHolder } from '../support/cards.ts'
import { newSigner, verifyEvent } from '../support/client.ts'

const verify = createHashVerifier(openSchnorr())

/** The token printed in NIP-26. */
const delegator = '8e0d3d3eb2881ec137a11debe736a9086715a8c8beeeda615780064d68bc25dd'
const delegatee = '477318cfb5427b9cfc66a9fa376150c1ddbc62115ae27cef72417eb959691396'
const conditions = 'kind=1&created_at>1674834236&created_at<1677426236'
const token =
  '6f44d7fe4f1c09f3954640fb58bd12bae8bb8ff4120853c4693106c82e920e2b898f1f9ba9bd65449a987c39c0423426ab7b53910c0c6abfb41b30bc16e5f524'

/** Id and signature are not the concern of these tests. */
const event = (changes: Partial<NostrEvent> = {}): NostrEvent => ({
  id: '0'.repeat(64),
  pubkey: delegatee,
  created_at: 1_675_000_000,
  kind: 1,
  tags: [['delegation', delegator, conditions, token]],
  content: '',
  sig: '0'.repeat(128),
  ...changes,
})
const tagged = (...tag: string[]) => event({ tags: [['delegation', ...tag]] })

describe('the published vectors of NIP-26', () => {
  test('contain the hash of a delegation string', () => {
    expect(delegationHash(delegatee, conditions)).toBe(
      '397b751983c871f6e3986c6ede36c0f955ddd752c514ad5d1ff026a3e9a8b7f6',
    )
  })

  test('contain a valid token, whose event belongs to the delegator', () => {
    expect(authorOf(event(), verify)).toBe(delegator)
  })

  test('contain the form of the delegation of a card', () => {
    const card = 'c6047f9441ed7d6d3045406e95c07cd85c778e4b8cef3ca7abac09b95c709ee5'
    const one = '79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798'
    const allowed = 'kind=1112&created_at<1900000000&created_at>1700000000'
    const signed =
      '315a596978fd59f28e67e1db86a9d34d57834ea136fc3b6930852779a44a2410a7de068db4f2fc2d9cdf475025f4a2ba0dc45ec9aef39c8269d3def5ed897718'
    expect(delegationHash(card, allowed)).toBe(
      '5c22f18a262f0ea1da8294fa8467271d2fc9323432d851c58b6ac7b724739c6b',
    )
    const tags = [['delegation', one, allowed, signed]]
    const made = event({ pubkey: card, kind: 1112, created_at: 1_800_000_000, tags })
    expect(authorOf(made, verify)).toBe(one)
  })

  test('contain a sample event that is not valid: id, signature and time are wrong', () => {
    const sample: NostrEvent = {
      id: 'e93c6095c3db1c31d15ac771f8fc5fb672f6e52cd25505099f62cd055523224f',
      pubkey: delegatee,
      created_at: 1_677_426_298,
      kind: 1,
      tags: [['delegation', delegator, conditions, token]],
      content: 'Hello, world!',
      sig: '633db60e2e7082c13a47a6b19d663d45b2a2ebdeaf0b4c35ef83be2738030c54fc7fd56d139652937cdca875ee61b51904a1d0d0588a6acd6168d7be2909d693',
    }
    expect(verifyEvent(sample)).toBe(false)
    expect(authorOf(sample, verify)).toBeNull()
  })
})

test('an event without a delegation belongs to its own author', () => {
  expect(authorOf(event({ tags: [['p', delegator]] }), verify)).toBe(delegatee)
})

test('only the first delegation tag counts', () => {
  const good = ['delegation', delegator, conditions, token]
  const bad = ['delegation', delegator, conditions, '0'.repeat(128)]
  expect(authorOf(event({ tags: [good, bad] }), verify)).toBe(delegator)
  expect(authorOf(event({ tags: [bad, good] }), verify)).toBeNull()
})

const invalid: [string, NostrEvent][] = [
  ['another kind', event({ kind: 7 })],
  ['the last second before the window', event({ created_at: 1_674_834_236 })],
  ['the first second after the window', event({ created_at: 1_677_426_236 })],
  ['another delegatee', event({ pubkey: delegator })],
  ['another delegator', tagged(delegatee, conditions, token)],
  ['other conditions than those signed', tagged(delegator, 'kind=1', token)],
  ['a token of zeros', tagged(delegator, conditions, '0'.repeat(128))],
  ['a token that is cut', tagged(delegator, conditions, token.slice(2))],
  ['a token in upper case', tagged(delegator, conditions, token.toUpperCase())],
  ['nothing but its name', tagged()],
  ['no token', tagged(delegator, conditions)],
]
test.each(invalid)('a delegation with %s is not valid', (_, made) => {
  expect(authorOf(made, verify)).toBeNull()
})

describe('a delegation to one key', () => {
  const plain = event({ tags: [] })
  test('is valid for an event that this key signed', () => {
    expect(authorThrough(delegatee, event(), verify)).toBe(delegator)
    expect(authorThrough(delegatee, tagged(delegator, conditions), verify)).toBeNull()
  })

  test('is not valid for another signer, even for the delegator', () => {
    expect(authorThrough(newSigner().pubkey, event(), verify)).toBeNull()
    expect(authorThrough(delegator, event(), verify)).toBeNull()
  })

  test('leaves an event without one to its author', () => {
    expect(authorThrough(delegator, plain, verify)).toBe(delegatee)
  })
})

describe('a delegation for a service', () => {
  const [holder, signer, service] = [newHolder(), newSigner(), newSigner().pubkey]
  const at = 1_800_000_000
  const window = `created_at>${at - 9}&created_at<${at + 9}`
  const made = (text: string, tags: string[][] = [['p', service]]) =>
    event({
      pubkey: signer.pubkey,
      kind: 1112,
      created_at: at,
      tags: [...tags, delegationTag(holder, signer, text)],
    })
  const counts = (sent: NostrEvent) => authorTowards(service, sent, verify)

  test.each(['kind=1112', `kind=1112&${window}`, `${window}&kind=1112`])(
    'counts with the conditions %s',
    (text) => {
      expect(counts(made(text))).toBe(holder.pubkey)
      expect(
        counts(
          made(text, [
            ['p', signer.pubkey],
            ['p', service],
          ]),
        ),
      ).toBe(holder.pubkey)
    },
  )

  test.each([window, `kind=1112&kind=1&${window}`, 'kind=1112&kind=1112', 'kind=1', 'x=1', ''])(
    'does not count with the conditions %p',
    (text) => expect(counts(made(text))).toBeNull(),
  )

  test('does not count for an event that does not name the service', () => {
    for (const tags of [[], [['p', signer.pubkey]], [['e', service]]]) {
      expect(counts(made('kind=1112', tags))).toBeNull()
    }
  })

  test('leaves an event without one to its author', () => {
    expect(counts(event({ tags: [] }))).toBe(delegatee)
  })
})

describe('conditions', () => {
  test.each([
    ['kind=1', { kinds: [1], after: [], before: [] }],
    ['kind=1&kind=7', { kinds: [1, 7], after: [], before: [] }],
    ['created_at>5&created_at<9&kind=0', { kinds: [0], after: [5], before: [9] }],
  ])('%s is understood', (text, expected) => {
    expect(parseConditions(text)).toEqual(expected)
  })

  const unknown = ['', 'kind', 'kind=', 'kind=1&', 'kind=-1', 'kind=1,2', 'kind>1', 'kind=1&p=x']
  test.each([...unknown, 'created_at=5', 'created_at>=5', 'created_at>1e9', 'kind=1 ', 'KIND=1'])(
    '%p fails',
    (text) => expect(parseConditions(text)).toBeNull(),
  )

  test.each<[string, number, number, boolean]>([
    ['kind=1&kind=7', 7, 5, true],
    ['kind=1&kind=7', 2, 5, false],
    ['created_at>5', 2, 5, false],
    ['created_at>5', 2, 6, true],
    ['created_at<5', 2, 5, false],
    ['created_at>5&created_at>8', 2, 7, false],
  ])('%s admits kind %i at %i: %p', (text, kind, at, expected) => {
    const parsed = parseConditions(text)
    expect(parsed && admits(parsed, kind, at)).toBe(expected)
  })
})
