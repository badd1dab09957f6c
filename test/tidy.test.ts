/** The rules of the house that a machine can check. Each test lists what breaks its rule. */
import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'

const root = join(import.meta.dir, '..')
const generated = ['node_modules', 'dist', 'data', 'test-output', '.git', '.native']

type Import = { specifier: string; target: string | null; typesOnly: boolean; names: string[] }
type Source = { path: string; text: string; code: string; imports: Import[] }

const allFiles = filesBelow('')
const sources = allFiles.filter((path) => /^(src|test)\/.*\.tsx?$/.test(path)).map(readSource)
const src = sources.filter(({ path }) => path.startsWith('src/'))

// ── Who may import whom

test('every file imports only from the layers below its own', () => {
  const allowed: Record<Layer, { values: Layer[]; types: Layer[] }> = {
    edge: { values: ['edge', 'store', 'reach', 'core'], types: [] },
    store: { values: ['store', 'core'], types: [] },
    reach: { values: ['reach', 'core'], types: [] },
    core: { values: ['core'], types: ['store', 'reach'] },
  }
  const broken = localImports().filter(({ from, target, typesOnly }) => {
    const { values, types } = allowed[layerOf(from)]
    return !values.includes(layerOf(target)) && !(typesOnly && types.includes(layerOf(target)))
  })
  expect(broken.map(arrow)).toEqual([])
})

test('Elysia lives only at the edge, TypeBox there and in models.ts', () => {
  const edge = /^src\/(app\/|http\/|ui\/)|\/([a-z-]+-)?routes\.ts$/
  const withModels = /^src\/(app\/|http\/|ui\/)|\/([a-z-]+-)?(routes|models)\.ts$/
  expect([
    ...importersOf(/^(elysia$|elysia\/(?!type)|@elysiajs\/)/, edge, /\/([a-z-]+-)?models\.ts$/),
    ...importersOf(/^(@sinclair\/typebox|elysia\/type)/, withModels),
  ]).toEqual([])
})

test('only http/elysia.ts loads Elysia, in the mode that it sets', () => {
  const loading = src
    .filter(({ path }) => path !== 'src/http/elysia.ts')
    .flatMap(({ path, imports }) =>
      imports
        .filter(({ specifier, typesOnly }) => /^elysia(\/|$)/.test(specifier) && !typesOnly)
        .map(({ specifier }) => `${path} imports ${specifier}`),
    )
  expect(loading).toEqual([])
})

test('models.ts takes nothing from Elysia but its TypeBox', () => {
  const broken = src
    .filter(({ path }) => /\/([a-z-]+-)?models\.ts$/.test(path))
    .flatMap(({ path, imports }) =>
      imports
        .filter(({ specifier }) => specifier === 'elysia')
        .flatMap(({ names }) => names.filter((name) => !/^(t|Static|TSchema)$/.test(name)))
        .map((name) => `${path} takes ${name}`),
    )
  expect(broken).toEqual([])
})

test('no file outside of db/ knows an engine', () => {
  const db = /^src\/db\//
  expect([
    ...importersOf(/^bun:sqlite$|\/db\/(sqlite|connection)\.ts$/, db),
    ...placesOf(/\bsqlite_|\bPRAGMA\b|\bSqlite[A-Z]|\bSQLITE_|\bSQLiteError\b/, db),
  ]).toEqual([])
})

test('nostr/ imports only itself and base/', () => {
  const broken = localImports().filter(
    ({ from, target }) => from.startsWith('src/nostr/') && !/^src\/(nostr\/|base\/)/.test(target),
  )
  expect(broken.map(arrow)).toEqual([])
})

test('coupons/ never imports wallet, gateway or relay', () => {
  const broken = localImports().filter(
    ({ from, target }) =>
      from.startsWith('src/coupons/') && /^src\/(wallet|gateway|relay)\//.test(target),
  )
  expect(broken.map(arrow)).toEqual([])
})

test('nostr-tools is imported by subpath', () => {
  expect(importersOf(/^nostr-tools$/)).toEqual([])
})

test('what runs in a browser takes from the rest of the program only what is pure', () => {
  const inBrowser = /^src\/ui\/[a-z]+\//
  const pure = /^src\/(ui\/[a-z]+\/|nostr\/|coupons\/benefit\.ts$|base\/)/
  const broken = localImports().filter(
    ({ from, target, typesOnly }) => inBrowser.test(from) && !typesOnly && !pure.test(target),
  )
  expect(broken.map(arrow)).toEqual([])
  const foreign = src
    .filter(({ path }) => inBrowser.test(path))
    .flatMap(({ path, imports }) =>
      imports
        .filter(
          ({ specifier, typesOnly }) =>
            !typesOnly && /^(node|bun):|^(bun|elysia|@sinclair)/.test(specifier),
        )
        .map(({ specifier }) => `${path} imports ${specifier}`),
    )
  expect(foreign).toEqual([])
})

test('relative imports name a file that exists', () => {
  const broken = sources.flatMap(({ path, imports }) =>
    imports
      .filter(({ target }) => target !== null && !isFile(target))
      .map(({ specifier }) => `${path} imports ${specifier}`),
  )
  expect(broken).toEqual([])
})

// ── Who may touch the outside

test('only the reach layer and the commands that call a server open connections', () => {
  const reach =
    /^src\/(outbound\/|gateway\/relays|cli\/(demo|health|control|card-sim)|ui\/(client\/api|till\/service-worker)\.ts)/
  const serving = /^src\/(app\/|http\/)/
  // A method called fetch is not a call: its parameters are followed by a body.
  const client = /(?<![.\w#])fetch\((?![^)]*\) \{)|new WebSocket\(|Bun\.(connect|udpSocket|dns)\b/
  const modules = /^(node:)?(net|http|https|http2|dns|dns\/promises|tls|dgram)$/
  expect([
    ...placesOf(client, reach),
    ...placesOf(/Bun\.(serve|listen)\b/, serving),
    ...importersOf(modules, new RegExp(`${reach.source}|${serving.source}`)),
  ]).toEqual([])
})

test('only config.ts reads the environment, and only production.ts changes it', () => {
  const touching = /^src\/(app\/config|http\/production)\.ts$/
  expect(placesOf(/\b(process|Bun|import\.meta)\.env\b/, touching)).toEqual([])
})

test('only base/json.ts parses JSON, but for what this program wrote itself', () => {
  const ours = [
    // The one for everything that comes from outside.
    'base/json',
    // Columns: each value was checked before it was written.
    '([a-z-]+/)+([a-z-]+-)?store',
    // What was sealed under our own key.
    'wallet/(transfers/swap|cards/delegation|cards/requests)',
    // An answer of our own mint, before it leaves.
    'wallet/transfers/receive',
    // The document is made from copies of our own models, and from answers made for it.
    'http/openapi',
    // Events out of the outbox, and what passes between the relay's thread and this one.
    'app/gateway',
    'relay/(host|relay-worker)',
    // Our own server's answers, over its socket and to its pages: as long as the lists in them.
    'cli/control',
    'ui/client/api',
    // What a page keeps on its device.
    'ui/client/json',
  ]
  const places = new RegExp(`^src/(${ours.join('|')})\\.ts$`)
  expect(placesOf(/\bJSON\.parse\b|\.json\(\)/, places)).toEqual([])
})

test('only clock.ts and pages read the clock, and only the edge and the engine the stopwatch', () => {
  expect([
    ...placesOf(
      /\bDate\.now\b|\bDate\(\)|\bnew Date\b(?!\()/,
      /^src\/(base\/clock\.ts$|ui\/[a-z]+\/)/,
    ),
    ...placesOf(
      /\bperformance\.now\b|\bBun\.nanoseconds\b|\bhrtime\b/,
      /^src\/(app\/|http\/|db\/|cli\/|ui\/[a-z]+\/|relay\/relay-worker\.ts)/,
    ),
  ]).toEqual([])
})

// ── What must not lie around

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

test('every file of src is reached from main.ts', () => {
  const reached = new Set<string>()
  const waiting = ['src/main.ts']
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
  for (const { imports, text, path } of sources) {
    for (const { target, names } of imports)
      for (const name of names) wanted.add(`${target} ${name}`)
    // A module loaded as a whole may use all of it.
    for (const [, file] of text.matchAll(/\b(?:import|require)\('(\.[^']+)'/g)) {
      wanted.add(`${join(dirname(path), file as string)} *`)
    }
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

test('every link inside the documentation leads somewhere', () => {
  const pages = ['README.md', ...allFiles.filter((path) => /^docs\/.*\.md$/.test(path))]
  const broken = pages.flatMap((page) =>
    linksOf(readText(page))
      .filter((link) => !leadsSomewhere(page, link))
      .map((link) => `${page}: ${link}`),
  )
  expect(broken).toEqual([])
})

// ── The layers

type Layer = 'edge' | 'store' | 'reach' | 'core'

function layerOf(path: string): Layer {
  const edge =
    /^src\/(main\.ts$|app\/|cli\/|http\/|ui\/|relay\/relay-worker\.ts$)|\/([a-z-]+-)?routes\.ts$/
  if (edge.test(path)) return 'edge'
  if (/^src\/db\/|\/([a-z-]+-)?store\.ts$/.test(path)) return 'store'
  if (/^src\/(gateway\/relays|outbound\/)/.test(path)) return 'reach'
  return 'core'
}

type Edge = { from: string; target: string; typesOnly: boolean }

/** Every import from one file of src to another. */
function localImports(): Edge[] {
  return src.flatMap(({ path, imports }) =>
    imports.flatMap(({ target, typesOnly }) =>
      target?.startsWith('src/') ? [{ from: path, target, typesOnly }] : [],
    ),
  )
}

function arrow({ from, target }: Edge): string {
  return `${from} (${layerOf(from)}) → ${target} (${layerOf(target)})`
}

// ── Reading the tree

function filesBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (folder === '' && generated.includes(entry.name)) return []
    return entry.isDirectory() ? filesBelow(path) : [path]
  })
}

type Locked = {
  integrity?: string
  link?: boolean
  optionalDependencies?: Record<string, string>
}

function lockedPackages(): Record<string, Locked> {
  return JSON.parse(readText('package-lock.json')).packages
}

/** What a person wrote: not the lock file, which repeats what packages say. */
function handwritten(): string[] {
  return allFiles.filter(
    (path) => path !== 'package-lock.json' && !/\.(log|png|ico|woff2|wasm|so)$/.test(path),
  )
}

function readText(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

function isFile(path: string): boolean {
  return statSync(join(root, path), { throwIfNoEntry: false })?.isFile() ?? false
}

/** `code` has neither comments nor types: what a rule about behaviour looks at. */
function readSource(path: string): Source {
  const text = readText(path)
  const transpiler = new Bun.Transpiler({
    loader: path.endsWith('x') ? 'tsx' : 'ts',
    target: 'bun',
  })
  return { path, text, code: transpiler.transformSync(text), imports: importsOf(path, text) }
}

function importsOf(path: string, text: string): Import[] {
  const statement = /^(?:import|export)\s+(type\s)?(?:([^'"`;]*?)\sfrom\s+)?'([^']+)'/gm
  return [...text.matchAll(statement)].map(([, type, clause = '', specifier = '']) => {
    const [, list = ''] = /\{([^}]*)\}/.exec(clause) ?? []
    const names = list.split(',').map((name) => name.trim())
    const real = names.filter((name) => name !== '')
    const bare = clause.replace(/\{[^}]*\}/, '').replace(/[\s,]/g, '')
    return {
      specifier,
      target: specifier.startsWith('.') ? join(dirname(path), specifier) : null,
      typesOnly:
        type !== undefined ||
        (bare === '' && real.length > 0 && real.every((name) => name.startsWith('type '))),
      names: [
        ...real.map((name) => name.replace(/^type\s+/, '').replace(/\s+as\s.*$/, '')),
        ...(bare.startsWith('*') ? ['*'] : []),
      ],
    }
  })
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

function importersOf(specifier: RegExp, ...except: RegExp[]): string[] {
  return src
    .filter(({ path }) => !except.some((place) => place.test(path)))
    .flatMap(({ path, imports }) =>
      imports
        .filter((found) => specifier.test(found.specifier))
        .map((found) => `${path} imports ${found.specifier}`),
    )
}

function placesOf(pattern: RegExp, except: RegExp): string[] {
  return src
    .filter(({ path }) => !except.test(path))
    .flatMap(({ path, code }) =>
      code
        .split('\n')
        .filter((line) => pattern.test(line))
        .map((line) => `${path}: ${line.trim()}`),
    )
}

function linesOf(paths: string[], pattern: RegExp): string[] {
  return paths.flatMap((path) =>
    readText(path)
      .split('\n')
      .flatMap((line, index) =>
        pattern.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : [],
      ),
  )
}

// ── Links

function withoutCode(markdown: string): string {
  return markdown.replace(/^( *)(`{3,}|~{3,})[^\n]*\n[\s\S]*?^\1\2 *$/gm, '')
}

/** Targets of links and pictures that stay inside the repository. */
function linksOf(markdown: string): string[] {
  const prose = withoutCode(markdown).replace(/`[^`\n]*`/g, '')
  const inline = prose.matchAll(/\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)/g)
  const references = prose.matchAll(/^\[[^\]]+\]:\s+<?([^\s>]+)/gm)
  return [...inline, ...references]
    .map(([, target]) => target as string)
    .filter((target) => !/^[a-z][a-z0-9+.-]*:/i.test(target))
}

function leadsSomewhere(page: string, link: string): boolean {
  const [file = '', anchor] = link.split('#')
  const target = file === '' ? page : join(dirname(page), decodeURIComponent(file))
  if (relative('.', target).startsWith('..') || !existsSync(join(root, target))) return false
  if (anchor === undefined) return true
  return target.endsWith('.md') && anchorsOf(readText(target)).has(decodeURIComponent(anchor))
}

/** The anchors that a code host gives to headings, and those written by hand. */
function anchorsOf(markdown: string): Set<string> {
  const prose = withoutCode(markdown)
  const anchors = new Set<string>()
  const seen = new Map<string, number>()
  for (const [, heading = ''] of prose.matchAll(/^#{1,6}\s+(.+?)\s*#*$/gm)) {
    const slug = heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
      .replace(/ /g, '-')
    const times = seen.get(slug) ?? 0
    seen.set(slug, times + 1)
    anchors.add(times === 0 ? slug : `${slug}-${times}`)
  }
  for (const [, id = ''] of prose.matchAll(/<a\s+(?:id|name)="([^"]+)"/g)) anchors.add(id)
  return anchors
}
