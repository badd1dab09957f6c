/** The storage for Node, beside a Map. */
import { afterAll, expect, test } from 'bun:test'
import {
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
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
  const killed = `${file}.0123456789abcdef.new`
  // Another program that runs is about to give it its name.
  const running = `${file}.fedcba9876543210.new`
  for (const one of [killed, running]) writeFileSync(join(path, one), '"once:sale"\nsecr')
  utimesSync(join(path, killed), 1000, 1000)
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

const program = `
  import { openFolder } from '${join(import.meta.dir, '../../src/client/folder.ts')}'
  const folder = openFolder(process.argv[2])
  for (let at = 0; at < 50; at++) {
    const key = crypto.randomUUID()
    if (folder.add('once:' + at, key) && folder.get('once:' + at) !== key) console.log('lost', at)
  }
`

test('programs of one folder get one key each, though their numbers are equal', async () => {
  const path = newDirectory()
  const file = join(newDirectory(), 'program.ts')
  writeFileSync(file, `Object.defineProperty(process, 'pid', { value: 1 })\n${program}`)
  const spawned = [1, 2, 3].map(() =>
    Bun.spawn([process.execPath, file, path], { stdout: 'pipe', stderr: 'pipe' }),
  )
  const told = await Promise.all(
    spawned.map(async (one) => [await one.exited, await new Response(one.stdout).text()]),
  )
  expect(told).toEqual([1, 2, 3].map(() => [0, '']))
  expect(openFolder(path).names()).toHaveLength(50)
})
