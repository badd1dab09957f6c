/** Which packages `npm start` and `npm test` fetch (.tools/install.mjs). */
import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { packagesIn, programEntries } from '../../src/cli/licences/collect.ts'
import { buildPages } from '../../src/ui/bundle.ts'

type Names = Record<string, string>
type Package = {
  version?: string
  dev?: boolean
  optional?: boolean
  dependencies?: Names
  devDependencies?: Names
  optionalDependencies?: Names
}
type Locked = Record<string, Package>
type Decide = (
  packages: Locked,
  versionAt: (path: string) => string | undefined,
  tests: boolean,
) => string

const root = join(import.meta.dir, '../..')
// The script has no types: it runs before a type checker is installed.
const installer: string = '../../.tools/install.mjs'
const whatToInstall: Decide = (await import(installer)).whatToInstall
const { packages }: { packages: Locked } = JSON.parse(
  readFileSync(join(root, 'package-lock.json'), 'utf8'),
)

describe('a start fetches', () => {
  const locked: Locked = {
    '': { dependencies: { run: '1.0.0', other: '1.0.0' }, devDependencies: { checker: '3.0.0' } },
    'node_modules/run': {
      version: '1.0.0',
      dependencies: { part: '^2.0.0' },
      optionalDependencies: { native: '1.0.0' },
    },
    'node_modules/native': { version: '1.0.0', optional: true },
    'node_modules/part': { version: '2.0.0' },
    'node_modules/other': { version: '1.0.0', dependencies: { part: '^1.0.0' } },
    'node_modules/other/node_modules/part': { version: '1.5.0' },
    'node_modules/checker': { version: '3.0.0', dev: true, dependencies: { part: '^2.0.0' } },
  }
  const running = {
    'node_modules/run': '1.0.0',
    'node_modules/part': '2.0.0',
    'node_modules/other': '1.0.0',
    'node_modules/other/node_modules/part': '1.5.0',
  }
  const all = { ...running, 'node_modules/checker': '3.0.0' }
  const { 'node_modules/other/node_modules/part': _, ...half } = running
  /** The same packages as Bun may lay them out. */
  const otherwise = {
    'node_modules/run': '1.0.0',
    'node_modules/run/node_modules/part': '2.0.0',
    'node_modules/other': '1.0.0',
    'node_modules/part': '1.5.0',
  }

  test.each<[string, Names, boolean, string]>([
    ['to run, in a fresh clone', {}, false, 'running'],
    ['to test, in a fresh clone', {}, true, 'all'],
    ['to run, with that there', running, false, 'nothing'],
    ['to run, with that there in other folders', otherwise, false, 'nothing'],
    ['to test, with what running needs there', running, true, 'all'],
    ['to run, with everything there', all, false, 'nothing'],
    ['to test, with everything there', all, true, 'nothing'],
    ['to run, after an interruption', half, false, 'running'],
    [
      'to run, with another version',
      { ...running, 'node_modules/part': '2.1.0' },
      false,
      'running',
    ],
    ['to run, and keeps the tests', { ...all, 'node_modules/run': '0.9.0' }, false, 'all'],
    ['to run, and keeps half of the tests', { 'node_modules/checker': '2.0.0' }, false, 'all'],
    [
      'to run, with a native part of another version',
      { ...running, 'node_modules/native': '0.9.0' },
      false,
      'running',
    ],
  ])('%s', (_, present, tests, expected) => {
    expect(whatToInstall(locked, (path) => present[path], tests)).toBe(expected)
  })
})

test('no package of the program is a package of the tests', async () => {
  const program = await Bun.build({
    entrypoints: programEntries.map((entry) => join(root, entry)),
    target: 'bun',
    metafile: true,
  })
  const folders = packagesIn(program).union(packagesIn(await buildPages()))
  const paths = [...folders].map((folder) => relative(root, folder).replaceAll('\\', '/'))
  expect(paths).toContain('node_modules/elysia')
  expect(paths.filter((path) => !packages[path] || packages[path].dev)).toEqual([])
  expect(packages['node_modules/bun']?.dev).toBeUndefined()
})

test('the lock file tells for each package whether only tests need it', () => {
  // An entry that may be either (devOptional) would come with every start.
  const unsure = Object.entries(packages).filter(([, locked]) => 'devOptional' in locked)
  expect(unsure.map(([path]) => path)).toEqual([])
  for (const name of ['typescript', 'bun-types', 'playwright-core', '@biomejs/biome']) {
    expect([name, packages[`node_modules/${name}`]?.dev]).toEqual([name, true])
  }
})
