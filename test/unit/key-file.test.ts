import { expect, test } from 'bun:test'
import { createDecipheriv, scryptSync } from 'node:crypto'
import { OperatorError } from '../../src/base/operator-error.ts'
import { openKeyFile, sealKeyFile } from '../../src/crypto/key-file.ts'

const passphrase = 'correct horse battery'
const sealed = sealKeyFile('the secrets', 'npub1someone', passphrase)

test('opens with its passphrase in any Unicode composition', () => {
  expect(openKeyFile(sealed, passphrase)).toBe('the secrets')
  const accented = sealKeyFile('the secrets', 'npub1someone', 'canción única')
  expect(openKeyFile(accented, 'canción única'.normalize('NFD'))).toBe('the secrets')
})

test('contains nothing readable, and has another salt and IV each time', () => {
  expect(sealed).not.toContain('secrets')
  const other = JSON.parse(sealKeyFile('the secrets', 'npub1someone', passphrase))
  const first = JSON.parse(sealed)
  expect(other.kdf.salt).not.toBe(first.kdf.salt)
  expect(other.cipher.iv).not.toBe(first.cipher.iv)
})

test('contains its own description, so that another program can open it', () => {
  const { npub, kdf, cipher, sealed: body } = JSON.parse(sealed)
  expect(kdf.N).toBeGreaterThanOrEqual(2 ** 16)
  const salt = Buffer.from(kdf.salt, 'hex')
  const { N, r, p } = kdf
  const key = scryptSync(passphrase, salt, 32, { N, r, p, maxmem: 2 ** 30 })
  const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(cipher.iv, 'hex'))
  decipher.setAAD(Buffer.from(`cuponera-keys 1 ${npub} scrypt ${N} ${r} ${p} ${kdf.salt}`))
  decipher.setAuthTag(Buffer.from(cipher.tag, 'hex'))
  expect(decipher.update(body, 'hex', 'utf8') + decipher.final('utf8')).toBe('the secrets')
})

test.each([
  ['another passphrase', (file: string) => file, 'correct horse batterz'],
  ['another owner', (file: string) => file.replace('someone', 'someelse'), passphrase],
  // One byte with a bit turned: two fixed digits would be the right ones once in a while.
  [
    'another body',
    (file: string) =>
      file.replace(/(?<="sealed": ")../, (byte) =>
        (Number.parseInt(byte, 16) ^ 1).toString(16).padStart(2, '0'),
      ),
    passphrase,
  ],
])('%s does not open it', (_, change, phrase) => {
  expect(() => openKeyFile(change(sealed), phrase)).toThrow(
    new OperatorError('wrong passphrase (or the file was changed)'),
  )
})

const file = JSON.parse(sealed)
const unfit: [name: string, content: string, says: string][] = [
  ['no JSON', 'keys', 'this is not a file of "cuponera keys export"'],
  ['null', 'null', 'this is not a file of "cuponera keys export"'],
  ['another format', '{"format":"x"}', 'this is not a file of "cuponera keys export"'],
  ['a later version', JSON.stringify({ ...file, version: 2 }), 'the file is of a newer version'],
  ['no kdf', JSON.stringify({ ...file, kdf: undefined }), 'the file of keys is damaged'],
  ['a cost that exhausts the machine', changeKdf({ N: 2 ** 30 }), 'the file of keys is damaged'],
  ['a cost that is no power of two', changeKdf({ N: 100_000 }), 'the file of keys is damaged'],
  ['a cost that protects nothing', changeKdf({ N: 2 }), 'the file of keys is damaged'],
  ['a salt of another length', changeKdf({ salt: '00' }), 'the file of keys is damaged'],
]
test.each(unfit)('refuses %s', (_, content, says) => {
  expect(() => openKeyFile(content, passphrase)).toThrow(says)
})

function changeKdf(change: object): string {
  return JSON.stringify({ ...file, kdf: { ...file.kdf, ...change } })
}
