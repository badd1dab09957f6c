import { describe, expect, test } from 'bun:test'
import { limits } from '../../src/base/limits.ts'
import { parseSuuid, suuidOf } from '../../src/crypto/bytes.ts'
import { openSchnorr } from '../../src/crypto/schnorr.ts'
import { createHashVerifier } from '../../src/crypto/sign-event.ts'
import { authorOf, delegationHash } from '../../src/nostr/delegation.ts'
import type { NostrEvent } from '../../src/nostr/event.ts'
import { createResponse, readRequest } from '../../src/wallet/request.ts'
import { newSigner, verifyEvent } from '../support/client.ts'
import { createEvent } from '../support/events.ts'
import { refusalOf } from '../support/refused.ts'

const engine = openSchnorr()
const now = 1_800_000_000
const verifyHash = createHashVerifier(engine)
const checks = { verify: verifyEvent, now: () => now }
const asked = {
  kinds: [1112],
  types: ['create-identity'],
  authorOf: (event: NostrEvent) => authorOf(event, verifyHash),
  invalid: 'identity-event-invalid',
  stale: 'identity-event-stale',
} as const
const typed = [['t', 'create-identity']]
const good = { kind: 1112, createdAt: now, tags: typed, content: '{"name":"ana"}' }
const read = (value: unknown, options: object = {}) =>
  readRequest(checks, value, { ...asked, ...options })

describe('a request event', () => {
  test('is read with its author and its content', () => {
    const event = createEvent(good)
    expect(read(event)).toEqual({ event, author: event.pubkey, content: { name: 'ana' } })
  })

  test('may carry its content as an object, hashed as the text of it', () => {
    const event = createEvent(good)
    expect(read({ ...event, content: { name: 'ana' } })).toEqual(read(event))
  })

  test('may have a content that is no object', () => {
    for (const content of ['', 'x', '[]', 'null', '"x"', '1', '['.repeat(200_000)]) {
      expect(read(createEvent({ ...good, content })).content).toBeNull()
    }
  })

  const event = createEvent(good)
  const invalid: [string, unknown][] = [
    ['no object', null],
    ['text', 'x'],
    ['a list', [event]],
    ['another kind', createEvent({ ...good, kind: 1 })],
    ['another type', createEvent({ ...good, tags: [['t', 'create-nonce'], ...typed] })],
    ['no type', createEvent({ ...good, tags: [] })],
    ['another content than was signed', { ...event, content: '{"name":"eva"}' }],
    ['another id', { ...event, id: 'a'.repeat(64) }],
    ['another signature', { ...event, sig: 'a'.repeat(128) }],
    ['content that is a list', { ...event, content: [] }],
    ['a delegation that does not hold', createEvent({ ...good, tags: [...typed, ['delegation']] })],
  ]
  for (const [name, value] of invalid) {
    test(`is not ${name}`, () => {
      expect(refusalOf(() => read(value))).toEqual({ code: 'identity-event-invalid' })
    })
  }

  test('may come without a type where the route allows it', () => {
    expect(read(createEvent({ ...good, tags: [] }), { untyped: true }).content).not.toBeNull()
    expect(read(createEvent({ ...good, tags: [['t', 'x']] }), { types: null })).toBeTruthy()
  })

  test('is from within three minutes of now, either way', () => {
    const window = limits.requestWindowSeconds
    for (const ahead of [-window, window]) {
      expect(read(createEvent({ ...good, createdAt: now + ahead }))).toBeTruthy()
    }
    for (const ahead of [-window - 1, window + 1]) {
      expect(refusalOf(() => read(createEvent({ ...good, createdAt: now + ahead })))).toEqual({
        code: 'identity-event-stale',
      })
    }
  })

  test('belongs to the delegator when its delegation is valid', () => {
    const secret = Buffer.alloc(32, 7)
    const delegator = newSigner(secret)
    const delegatee = newSigner()
    const conditions = `kind=1112&created_at>${now - 10}`
    const hash = Uint8Array.fromHex(delegationHash(delegatee.pubkey, conditions))
    const token = engine.keypair(secret).sign(hash).toHex()
    const tags = [...typed, ['delegation', delegator.pubkey, conditions, token]]
    const event = createEvent({ ...good, tags, signer: delegatee })
    expect(read(event).author).toBe(delegator.pubkey)
    const late = createEvent({ ...good, tags, signer: delegatee, createdAt: now - 11 })
    expect(refusalOf(() => read(late))).toEqual({ code: 'identity-event-invalid' })
  })

  test('is answered by an event of the manager that names caller, purpose and reason', () => {
    const manager = newSigner()
    const request = read(createEvent(good))
    const answer = createResponse(manager, request, { type: 'done', content: '{}', now })
    expect(verifyEvent(answer)).toBe(true)
    expect(answer).toMatchObject({
      kind: 21_111,
      pubkey: manager.pubkey,
      created_at: now,
      content: '{}',
      tags: [
        ['p', request.event.pubkey],
        ['e', request.event.id],
        ['t', 'done'],
      ],
    })
  })
})

describe('the short form of a UUID', () => {
  const vectors: [string, string][] = [
    ['00000000-0000-0000-0000-000000000000', 'A'.repeat(22)],
    ['00000000-0000-0000-0000-000000000001', `${'A'.repeat(21)}B`],
    ['fd54e006-a714-4699-9fd0-3898c622aed8', 'D9VOAGpxRGmZ_QOJjGIq7Y'],
    ['3ea07d89-6ff4-4022-a823-8043ed53f3a9', 'A-oH2Jb_RAIqgjgEPtU_Op'],
  ]
  for (const [uuid, text] of vectors) {
    test(`of ${uuid}`, () => {
      expect(suuidOf(uuid)).toBe(text)
      expect(parseSuuid(text)).toBe(uuid)
    })
  }

  test('is nothing else', () => {
    const wrong = ['', 'A'.repeat(21), 'A'.repeat(23), `${'A'.repeat(21)}=`, `${'A'.repeat(21)}é`]
    for (const text of [...wrong, `E${'A'.repeat(21)}`, '_'.repeat(22)]) {
      expect(parseSuuid(text)).toBeNull()
    }
  })
})
