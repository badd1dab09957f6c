/** The storage for Node, beside a Map. */
import { afterAll, expect, test } from 'bun:test'
import {
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { openFolder } from '../../src/client/folder.ts'
import { cleanUp, newDirectory } from '../support/server.ts'

afterAll(cleanUp)

const hostile = [
  ...['', '.', '..', '../up', '/etc/passwd', 'a/b', 'a\\b', 'con', 'nul.txt', '*?<>|":'],
  ...['line\nbreak', 'zero\0byte', 'ñandú 🧉', '\ud800', '\ud801', 'Sale', 'sale', ' sale'],
  ...['sale ', 'sale.', 'x'.repeat(70_000), '__proto__', '{"a":1}', '%2e%2e'],
]

test('a folder holds what a Map holds, whatever the names are', () => {
  const above = newDirectory()
  const path = join(above, 'deep', 'keys')
  const folder = openFolder(path)
  const map = new Map<string, string>()
  for (const [at, name] of hostile.entries()) {
    expect(folder.get(name)).toBeNull()
    for (const text of [`first ${at}`, `text ${at}\nof two lines\n`]) {
      folder.set(name, text)
      map.set(name, text)
    }
  }
  folder.set('empty', '')
  map.set('empty', '')
  folder.delete('sale')
  map.delete('sale')
  folder.delete('never there')
  const again = openFolder(path)
  expect(new Map(again.names().map((name) => [name, again.get(name) ?? '']))).toEqual(map)
  // Nothing beside it, and no unfinished file in it.
  expect([readdirSync(above), readdirSync(dirname(path))]).toEqual([['deep'], ['keys']])
  const files = readdirSync(path)
  expect(files.filter((file) => !/^[0-9a-f]{64}$/.test(file))).toEqual([])
  const modes = [path, ...files.map((file) => join(path, file))].map(
    (one) => statSync(one).mode & 0o777,
  )
  expect(modes).toEqual([0o700, ...files.map(() => 0o600)])
})

test('a damaged file is an error that shows nothing of it, and no missing key', () => {
  const path = newDirectory()
  const folder = openFolder(path)
  folder.set('once:sale', 'secret-key 1000')
  const [file = ''] = readdirSync(path)
  const whole = readFileSync(join(path, file))
  for (const damage of [
    () => truncateSync(join(path, file), 0),
    () => truncateSync(join(path, file), 5),
    () => writeFileSync(join(path, file), `"other"\nsecret-key`),
  ]) {
    writeFileSync(join(path, file), whole)
    damage()
    const told = `${join(path, file)} is damaged`
    expect(() => folder.get('once:sale')).toThrow(told)
    expect(() => folder.names()).toThrow(told)
  }
  // The next key of this name would not be the one that was sent.
  folder.delete('once:sale')
  expect(folder.get('once:sale')).toBeNull()
})

test('a folder is opened without the unfinished files of a program that was killed', () => {
  const path = newDirectory()
  openFolder(path).set('once:sale', 'secret-key 1000')
  const [file = ''] = readdirSync(path)
  const ended = Bun.spawnSync([process.execPath, '--version']).pid
  writeFileSync(join(path, `${file}.${ended}.new`), '"once:sale"\nsecr')
  // One that runs may be about to give it its name.
  const running = `${file}.${process.ppid}.new`
  writeFileSync(join(path, running), '"once:sale"\nsecr')
  writeFileSync(join(path, 'notes.new'), 'of somebody else')
  expect(openFolder(path).names()).toEqual(['once:sale'])
  expect(readdirSync(path).sort()).toEqual([file, running, 'notes.new'].sort())
})

test('a text is added only where there is none, and a folder is one object', () => {
  const path = newDirectory()
  const folder = openFolder(path)
  expect([folder.add('once:sale', 'first'), folder.add('once:sale', 'second')]).toEqual([
    true,
    false,
  ])
  expect(folder.get('once:sale')).toBe('first')
  folder.delete('once:sale')
  expect(folder.add('once:sale', 'third')).toBe(true)
  expect(readdirSync(path)).toHaveLength(1)
  const [file = ''] = readdirSync(path)
  expect(statSync(join(path, file)).mode & 0o777).toBe(0o600)
  symlinkSync(path, `${path}-link`)
  expect(openFolder(`${path}-link`)).toBe(folder)
  rmSync(`${path}-link`)
})
