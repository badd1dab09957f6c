import { afterAll, describe, expect, test } from 'bun:test'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { noticeOf, packagesIn, programEntries } from '../../src/cli/licences/collect.ts'
import { runCommand } from '../support/cli.ts'
import { cleanUp, newDirectory } from '../support/server.ts'

afterAll(cleanUp)

const root = join(import.meta.dir, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

describe('cuponera licences', () => {
  test('prints the licence of every package that the sources import', async () => {
    const { code, stdout, stderr } = await runCommand(['licences'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const imported = importedPackages()
    expect(imported).toContain('elysia')
    expect(imported).toContain('qr')
    const parts = stdout.split(`\n\n${'─'.repeat(80)}\n\n`).slice(1)
    const told = parts.map((part) => part.split(' ')[0])
    expect(imported.filter((name) => !told.includes(name))).toEqual([])
    for (const part of [
      'Cuponera',
      'Bun',
      'SQLite,',
      'libsecp256k1,',
      'preact',
      'memoirist',
      'pg-types',
    ]) {
      expect(told).toContain(part)
    }
    // A title, and the terms below it.
    expect(parts.filter((part) => part.length < 150)).toEqual([])
  })

  test('accepts the American spelling, and a reader that closes the pipe early', async () => {
    const [british, american] = await Promise.all([
      runCommand(['licences']),
      runCommand(['licenses']),
    ])
    expect(american).toEqual(british)
    const command = `"${process.execPath}" "${join(root, 'src/main.ts')}" licences | head -n 1`
    const { stdout, stderr } = Bun.spawnSync(['sh', '-c', command])
    expect([stdout.toString().split('\n').length, stderr.toString()]).toEqual([2, ''])
  })

  test('takes the licence from a file or else from the README, and fails where neither has it', () => {
    const folder = newDirectory()
    writeFileSync(join(folder, 'package.json'), '{"name":"bare","version":"1.0.0"}')
    expect(() => noticeOf(folder)).toThrow('bare 1.0.0, see below: the package has no licence text')
    writeFileSync(join(folder, 'README.md'), '# bare\n\n## License\n\nMIT\n')
    expect(() => noticeOf(folder)).toThrow('the package has no licence text')
    const readme =
      '# bare\n\n## License\n\nPermission is granted.\n\nTo all.\n\n## Links\n\nNone.\n'
    writeFileSync(join(folder, 'README.md'), readme)
    expect(noticeOf(folder).text).toBe('Permission is granted.\n\nTo all.')
    writeFileSync(join(folder, 'LICENCE.md'), 'Do as you like.')
    expect(noticeOf(folder).text).toBe('Do as you like.')
  })

  test('reads the packages from the metadata of a build, nested packages included', async () => {
    const folder = newDirectory()
    const put = (path: string, text: string) => {
      mkdirSync(join(folder, path, '..'), { recursive: true })
      writeFileSync(join(folder, path), text)
    }
    put('main.ts', "import { a } from 'a'; console.log(a)")
    put('node_modules/a/package.json', '{"name":"a","main":"a.js"}')
    put('node_modules/a/a.js', "export { b as a } from '@x/b'")
    put('node_modules/a/node_modules/@x/b/package.json', '{"name":"@x/b","main":"b.js"}')
    put('node_modules/a/node_modules/@x/b/b.js', 'export const b = 1')
    put('node_modules/unused/package.json', '{"name":"unused"}')
    const build = await Bun.build({ entrypoints: [join(folder, 'main.ts')], metafile: true })
    expect([...packagesIn(build)].toSorted((a, b) => a.length - b.length)).toEqual([
      join(folder, 'node_modules/a'),
      join(folder, 'node_modules/a/node_modules/@x/b'),
    ])
  })
})

test('the notice of Bun names every component that its documentation names', () => {
  const described = read('node_modules/bun-types/docs/project/license.mdx')
  const rows = [...described.matchAll(/^\| .*?\[?`?([\w-]+)`?['’\]]/gm)].map(
    ([, name = '']) => name,
  )
  expect(rows.length).toBeGreaterThan(40)
  const notice = read('src/cli/licences/texts/bun.txt')
  expect(rows.filter((name) => !notice.includes(name))).toEqual([])
})

test('a build starts from the program and from each of its workers', () => {
  const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  const workers = files
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) =>
      [...read(join('src', file)).matchAll(/new Worker\(new URL\('(\.[^']+)'/g)].map(
        ([, worker = '']) => join('src', dirname(file), worker),
      ),
    )
  expect(workers.length).toBeGreaterThan(1)
  expect(new Set(programEntries)).toEqual(new Set(['src/main.ts', ...workers]))
})

/** Packages that files of src import for more than their types. */
function importedPackages(): string[] {
  const statement =
    /^(?:import|export|@import)\s+(?!type\b)(?:[^'"`;]*?\sfrom\s+)?['"]([^'"]+)['"]/gm
  const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  const specifiers = files
    .filter((file) => /\.(tsx?|css)$/.test(file))
    .flatMap((file) => [...read(join('src', file)).matchAll(statement)])
    .map(([, specifier = '']) => specifier)
  const names = specifiers
    .filter((specifier) => !/^(\.|(node|bun):|bun$)/.test(specifier))
    .map((specifier) => /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier)
  return [...new Set(names)]
}
