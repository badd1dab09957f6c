/** Leftovers: unfinished work, dead code, files and names out of place. */
import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { existsSync, readdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { allFiles, handwritten, isFile, linesOf, readText, root, sources, src } from './tree.ts'

test('nothing is left for later', () => {
  const marks = /\b(TO[D]O|FIXM[E]|XX[X]|HAC[K])\b/
  expect(linesOf(handwritten(), marks)).toEqual([])
})

test('no test is skipped, singled out or only planned', () => {
  const tests = allFiles.filter((path) => path.startsWith('test/') && path.endsWith('.ts'))
  expect(linesOf(tests, /\b(test|it|describe)\.(skip|only|todo)\b/)).toEqual([])
})

test('tests read the second from one place', () => {
  const tests = allFiles.filter((path) => path.startsWith('test/') && path.endsWith('.ts'))
  const others = tests.filter((path) => path !== 'test/support/clock.ts')
  expect(linesOf(others, /\bfloor\(Date\.now\(\) \/ 1(000|e3)\)/)).toEqual([])
})

test('file names are kebab-case', () => {
  const broken = allFiles
    .filter((path) => /^(src|test|docs|\.tools)\//.test(path))
    .filter(
      (path) => !/^[a-z0-9]+(-[a-z0-9]+)*(\.test|\.d|\.es)?(\.[a-z0-9]+)?$/.test(basename(path)),
    )
  expect(broken).toEqual([])
})

test('nothing is exported as default', () => {
  const broken = sources.filter(({ code }) =>
    /\bexport (default\b|\{[^}]*\bas default\b)/.test(code),
  )
  expect(broken.map(({ path }) => path)).toEqual([])
})

test('every file of src is reached from main.ts or belongs to the published client', () => {
  const reached = new Set<string>()
  const waiting = ['src/main.ts', 'src/client/index.ts', 'src/client/folder.ts']
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (reached.has(path) || !isFile(path)) continue
    reached.add(path)
    waiting.push(...neighboursOf(path))
  }
  const programs = src.filter(({ path }) => !path.endsWith('.d.ts'))
  expect(programs.map(({ path }) => path).filter((path) => !reached.has(path))).toEqual([])
})

test('no file of src is longer than 400 lines', () => {
  const broken = src
    .map(({ path, text }) => ({ path, lines: text.trimEnd().split('\n').length }))
    .filter(({ lines }) => lines > 400)
  expect(broken).toEqual([])
})

test('every export of src is imported somewhere', () => {
  const wanted = new Set<string>()
  for (const { imports } of sources) {
    for (const { target, names } of imports)
      for (const name of names) wanted.add(`${target} ${name}`)
  }
  const dead = src.flatMap(({ path, text }) =>
    wanted.has(`${path} *`)
      ? []
      : exportsOf(text)
          .filter((name) => !wanted.has(`${path} ${name}`))
          .map((name) => `${path} exports ${name}`),
  )
  expect(dead).toEqual([])
})

test('every table of schema.sql is STRICT', () => {
  const database = new Database(':memory:', { strict: true })
  database.run(readText('schema.sql'))
  const loose = database
    .query<{ name: string }, []>(
      `SELECT name FROM pragma_table_list
       WHERE schema = 'main' AND type = 'table' AND strict = 0 AND name NOT LIKE 'sqlite~_%' ESCAPE '~'`,
    )
    .all()
  database.close()
  expect(loose).toEqual([])
})

test('the lock file names no download address', () => {
  expect(linesOf(['package-lock.json'], /"resolved"/)).toEqual([])
})

// Without it `npm ci` takes whatever the registry sends. npm leaves it out for a package it could not look up.
test('the lock file has the hash of every package', () => {
  const broken = Object.entries(lockedPackages()).filter(
    ([path, { integrity, link }]) =>
      path !== '' && !link && !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? ''),
  )
  expect(broken.map(([path]) => path)).toEqual([])
})

// `npm ci` refuses a lock file without them, and npm leaves out those it could not look up.
test('the lock file has the optional packages of every system', () => {
  const packages = lockedPackages()
  const wanted = Object.values(packages).flatMap((one) =>
    Object.keys(one.optionalDependencies ?? {}),
  )
  expect(wanted.filter((name) => !(`node_modules/${name}` in packages))).toEqual([])
})

test('package-lock.json is the only lock file', () => {
  const others = ['bun.lock', 'bun.lockb', 'yarn.lock', 'pnpm-lock.yaml', 'npm-shrinkwrap.json']
  expect(others.filter((name) => existsSync(join(root, name)))).toEqual([])
})

test('the top level stays short', () => {
  const names = [
    ...['package.json', 'package-lock.json', 'bunfig.toml', 'tsconfig.json', 'schema.sql'],
    ...['Dockerfile', 'README.md', 'LICENSE', 'src', 'test', 'docs'],
    ...['node_modules', 'dist', 'data', 'test-output'],
  ]
  const broken = readdirSync(root).filter((name) => !name.startsWith('.') && !names.includes(name))
  expect(broken).toEqual([])
})

test("no file names a path of somebody's machine or a registry's host", () => {
  const paths = /(?<![\w.$}-])\/(home|root|work|Users)\//
  const hosts = /\bregistr[y]\.[\w-]+\.|\bnpmj[s]\.|\b(deb|ftp)\.debia[n]\.org|\bpyp[i]\.org/
  expect([...linesOf(handwritten(), paths), ...linesOf(handwritten(), hosts)]).toEqual([])
})

type Locked = {
  integrity?: string
  link?: boolean
  optionalDependencies?: Record<string, string>
}

function lockedPackages(): Record<string, Locked> {
  return JSON.parse(readText('package-lock.json')).packages
}

function exportsOf(text: string): string[] {
  const declaration =
    /^export (?:declare )?(?:async )?(?:abstract )?(?:function\*?|class|const|let|type|interface) (\w+)/gm
  const lists = [...text.matchAll(/^export (?:type )?\{([^}]*)\}(?! from)/gm)]
  return [
    ...[...text.matchAll(declaration)].map(([, name]) => name as string),
    ...lists
      .flatMap(([, list = '']) => list.split(','))
      .map((name) =>
        name
          .replace(/^.*\sas\s/, '')
          .replace(/^\s*type\s/, '')
          .trim(),
      )
      .filter((name) => name !== ''),
  ]
}

/** Files that a file pulls in: imports, lazy imports, workers, and the scripts of a page. */
function neighboursOf(path: string): string[] {
  const text = readText(path)
  const found = path.endsWith('.html')
    ? text.matchAll(/(?:src|href)="([^":]+)"/g)
    : text.matchAll(/(?:\sfrom\s+|^import\s+|\b(?:import|URL|Worker)\()'(\.[^']+)'/gm)
  return [...found].map(([, file]) => join(dirname(path), file as string))
}
