import { afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { limits } from '../../src/base/limits.ts'
import { type MoveHeader, openMove, sealMove } from '../../src/db/move-file.ts'

const passphrase = 'uno dos tres cuatro cinco seis siete ocho'
const content = Buffer.from('the bytes of a backup')
const header: MoveHeader = {
  format: 'cuponera-move',
  version: 1,
  createdAt: 1,
  keys: { storeKey: 'a key' },
  database: {
    bytes: content.length,
    sha256: new Bun.CryptoHasher('sha256').update(content).digest('hex'),
  },
}

const made: string[] = []
afterEach(() => {
  for (const directory of made.splice(0)) rmSync(directory, { recursive: true, force: true })
})

function newTarget(): string {
  const directory = mkdtempSync(join(tmpdir(), 'cuponera-move-file-'))
  made.push(directory)
  return join(directory, 'target')
}

async function seal(changed: object = {}, body: Uint8Array = content): Promise<Uint8Array> {
  const stream = new Blob([body.slice()]).stream()
  const sealed = await sealMove({ ...header, ...changed } as MoveHeader, stream, passphrase)
  return new Response(sealed).bytes()
}

/** The outcome of opening a file: its keys, or the kind of the error. */
async function open(file: Uint8Array | string, target = newTarget(), words = passphrase) {
  try {
    return (await openMove(new Blob([file.slice()]), words, target)).keys
  } catch (cause) {
    return (cause as { kind?: string }).kind
  }
}

let whole: Uint8Array
beforeAll(async () => {
  whole = await seal()
})

test('gives back what was sealed, in a file for this user only', async () => {
  const target = newTarget()
  expect(await open(whole, target)).toEqual(header.keys)
  expect(readFileSync(target)).toEqual(content)
  expect(statSync(target).mode & 0o777).toBe(0o600)
})

describe('refuses as damaged', () => {
  // Each costs two derivations of a key, half a second each.
  const claims: [string, object, Uint8Array, number][] = [
    ['a longer database than it has', { bytes: 300 }, content, content.length],
    ['a database beyond all bounds', { bytes: limits.moveFileBytesMax + 1 }, content, 0],
    [
      'a packed stream of zeros behind its database',
      {},
      Buffer.alloc(8 * 1024 * 1024),
      content.length,
    ],
  ]
  test.each(claims)('a file with %s', async (_, changed, body, most) => {
    const target = newTarget()
    const claimed = { database: { ...header.database, ...changed } }
    expect(await open(await seal(claimed, body), target)).toBe('failed')
    expect(statSync(target).size).toBeLessThanOrEqual(most)
  })

  const line = `${'A'.repeat(64)}\n`
  const heads: [string, (text: string) => string][] = [
    ['a cost that takes 1 GiB', (text) => text.replace(' 17\n', ' 20\n')],
    ['no cost', (text) => text.replace(' 17\n', '\n')],
    ['a second key', (text) => text.replace('\n---', '\n-> X25519 AAAA\nAAAA\n---')],
    ['a header without end', (text) => text.replace(/\n([^\n]+)\n---/, `\n${line.repeat(99)}`)],
    ['a line without end', (text) => text.replace(/\n---.*/s, 'A'.repeat(99_999))],
    ['an older format', (text) => text.replace('org/v1', 'org/v0')],
  ]
  test.each(heads)('a file whose head has %s, before it reads on', async (_, change) => {
    const text = change(Buffer.from(whole).toString('latin1'))
    const target = newTarget()
    expect(await open(Buffer.from(text, 'latin1'), target)).toBe('failed')
    expect(existsSync(target)).toBe(false)
  })
})

test('tells a wrong passphrase from a damaged file', async () => {
  expect(await open(whole, newTarget(), 'otras palabras que no son')).toBe('passphrase')
  expect(await open('')).toBe('failed')
  expect(await open(whole.slice(0, -1))).toBe('failed')
})
