/** The promises of docs/api/changes.md: the interface of a release against that of this program, and stored bytes. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { cursorOf, parseCursor } from '../../src/coupons/page.ts'
import { mac, unseal } from '../../src/crypto/seal.ts'
import type { ApiDocument } from '../../src/http/openapi.ts'
import { call } from '../support/client.ts'
import { type Promised, promisesOf } from '../support/promised.ts'
import { cleanUp, startServer } from '../support/server.ts'

/** A file a release, written by its program: the entries of `promisesOf`, and the statuses of each code. */
const folder = join(import.meta.dir, 'promised')
const releases = readdirSync(folder)
const catalogue = readFileSync(join(import.meta.dir, '../../docs/api/errors.md'), 'utf8')
const codes = [...catalogue.matchAll(/^\| <a id="[\w-]+"><\/a>`([\w-]+)` \| ([\d, ]+) \|/gm)]

let version: string
let present: Promised
beforeAll(async () => {
  const document: ApiDocument = (await call((await startServer()).url, '/openapi.json')).json
  version = document.info.version
  present = promisesOf(document)
  for (const [, code, list = ''] of codes) present.set(`code ${code}`, list.split(', '))
})
afterAll(cleanUp)

test('each release has a file, named by its minor version', () => {
  const [major, minor] = version.split('.')
  expect(releases).toContain(`${major}-${minor}.txt`)
})

describe.each(releases)('a client of %s', (release) => {
  const lines = readFileSync(join(folder, release), 'utf8').trimEnd().split('\n')
  const promised: Promised = new Map(
    lines.map((line) => {
      const [subject = '', words = ''] = line.split(' | ')
      return [subject, words === '' ? [] : words.split(' ')]
    }),
  )
  const every = (kind: RegExp, broken: (words: string[], now: string[]) => string[]) =>
    [...promised].flatMap(([subject, words]) =>
      kind.test(subject)
        ? broken(words, present.get(subject) ?? []).map((one) => `${subject}: ${one}`)
        : [],
    )
  const lost = (words: string[], now: string[]) => words.filter((one) => !now.includes(one))

  test('finds every route, credential, status and field of a request', () => {
    expect(promised.size).toBeGreaterThan(300)
    expect([...promised.keys()].filter((subject) => !present.has(subject))).toEqual([])
    expect(every(/ (takes|reads)$/, lost)).toEqual([])
  })

  test('finds every key of an answer, in the same form', () => {
    // A key that was there sometimes may be there always.
    const either = (now: string[]) => [...now, ...now.map((one) => one.replace('!:', ':'))]
    expect(every(/ answers \d+$/, (words, now) => lost(words, either(now)))).toEqual([])
  })

  test('needs no other field in a request', () => {
    expect(every(/ needs$/, (words, now) => lost(now, words))).toEqual([])
  })

  test('gets every code with the statuses that it had', () => {
    expect(every(/^code /, (words, now) => [...lost(words, now), ...lost(now, words)])).toEqual([])
  })
})

// Bytes of version 0.2.0.
test('answers that were sealed for a repetition are opened by later versions', () => {
  const storeKey = new Uint8Array(32).fill(7)
  const nonce = 'Anf-OSv8elgEZg1_GQowWQ'
  const key = 'a-key-of-a-wallet'
  const kept = [
    {
      binding: { purpose: 'refresh', secret: nonce, key } as const,
      mac: '661720cae9f48a9aa63d9828a4a7c3b4b4bbc24b5714c172ae4e8ef63bfdb157',
      sealed:
        '61823195cba410a493692e7cf664c5ddeb87f96122f7aacf74c254c2d07e390bfee8a037f03a3e1b1ed0',
    },
    {
      binding: { purpose: 'answer', secret: `claim ${nonce}`, key } as const,
      mac: 'e6e3b2a77c055fcb76776e4c6447ab4c1dd541f4b7f48fc076c4bcf5fc5db13f',
      sealed:
        'e1ebf461bced7dcce35d48d687ef8d55096abb78ad7ed2498c923442deeab5a00128ba8145f4cb06ea8f',
    },
  ]
  for (const { binding, sealed, ...one } of kept) {
    expect(mac(storeKey, binding).toHex()).toBe(one.mac)
    expect(unseal(storeKey, binding, Uint8Array.fromHex(sealed))).toBe('{"nonce":"ñ"}')
  }
})

test('a cursor of a page goes on', () => {
  expect(parseCursor('Mw')).toBe(3)
  expect(parseCursor('MTIzNDU2')).toBe(123_456)
  expect(cursorOf(3)).toBe('Mw')
})
