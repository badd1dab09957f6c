/** Imports: each file takes from the layers below its own, and each library has its place. */
import { expect, test } from 'bun:test'
import {
  importersOf,
  isFile,
  type LocalImport,
  loadersOf,
  localImports,
  placesOf,
  sources,
  src,
} from './tree.ts'

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

test('Elysia lives only at the edge, TypeBox there and in models.ts, but for its types', () => {
  const edge = /^src\/(app\/|http\/|ui\/)|\/([a-z-]+-)?routes\.ts$/
  const withModels = /^src\/(app\/|http\/|ui\/)|\/([a-z-]+-)?(routes|models)\.ts$/
  expect([
    ...importersOf(/^(elysia$|elysia\/(?!type)|@elysiajs\/)/, edge, /\/([a-z-]+-)?models\.ts$/),
    ...loadersOf(/^(@sinclair\/typebox|elysia\/type)/, withModels),
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

test('only db/postgres/ imports the driver of PostgreSQL', () => {
  expect(importersOf(/^pg(-|$)/, /^src\/db\/postgres\//)).toEqual([])
})

test('no contract knows an engine, only the list of engines does', () => {
  const engine = /bun:sqlite|\b[sS]qlite|\bSQLite|\bPRAGMA\b|\bSQLITE_/
  const contracts = sources.filter(
    ({ path }) => path.startsWith('test/contract/') && path !== 'test/contract/stores.test.ts',
  )
  const broken = contracts.filter(({ code, imports }) =>
    [code, ...imports.map(({ specifier }) => specifier)].some((text) => engine.test(text)),
  )
  expect(broken.map(({ path }) => path)).toEqual([])
})

test('a worker is core, and only app/ starts it', () => {
  const worker = /\/worker\.ts$/
  const workers = src.map(({ path }) => path).filter((path) => worker.test(path))
  expect(workers.filter((path) => layerOf(path) !== 'core')).toEqual([])
  const broken = localImports().filter(
    ({ from, target }) => worker.test(target) && !from.startsWith('src/app/'),
  )
  expect(broken.map(arrow)).toEqual([])
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

test('http/ knows no feature', () => {
  const broken = localImports().filter(
    ({ from, target }) =>
      from.startsWith('src/http/') && !/^src\/(http|base|nostr|tls)\//.test(target),
  )
  expect(broken.map(arrow)).toEqual([])
})

test('http/ names no path of a feature', () => {
  const plugin = /new Elysia\(\{\s*name: '[^']+'(?:,\s*prefix: '([^']+)')?/
  const paths = src
    .filter(({ path }) => !path.startsWith('src/http/'))
    .flatMap(({ text }) => {
      const [found, prefix = ''] = plugin.exec(text) ?? []
      const routes = found ? text.matchAll(/\.(?:get|post|put|patch|delete)\(\s*'(\/[^']*)'/g) : []
      return [...routes].map(([, path]) => `${prefix}${path}`)
    })
  const heads = new Set(paths.map((path) => path.split('/')[1] ?? '').filter((head) => head !== ''))
  expect([...heads]).toContain('nostr')
  const list = [...heads].map((head) => head.replaceAll('.', '\\.')).join('|')
  const named = placesOf(new RegExp(`(?<![\\w.])/(${list})(?![\\w-])`), /^src\/(?!http\/)/)
  expect(named).toEqual([])
})

test('a start loads no library that only a move, a certificate or a page needs', () => {
  const loaded = loadedFrom(['src/main.ts', ...commandModules()])
  const late = /^(age-encryption|pkijs|asn1js|@scure\/bip39|preact)(\/|$)/
  expect(loaded).toContain('src/app/start.ts')
  expect(loadersOf(late, allBut(loaded))).toEqual([])
})

test('the program loads no module of a command, and no library of the service, before a command runs', () => {
  const loaded = loadedFrom(['src/main.ts'])
  const ofService =
    /^(elysia|@sinclair|prom-client|jose|pg|bun:sqlite|bun:ffi|nostr-tools\/(pure|nip4\d)|@noble\/(curves|ciphers))(\/|$)/
  expect(loaded).toContain('src/cli/commands.ts')
  expect([...loaded].filter((path) => commandModules().includes(path))).toEqual([])
  expect(loadersOf(ofService, allBut(loaded))).toEqual([])
})

/** The modules that commands import when they run. */
function commandModules(): string[] {
  const modules = localImports()
    .filter(({ from, late }) => from === 'src/cli/commands.ts' && late)
    .map(({ target }) => target)
  expect(modules).toContain('src/cli/serve.ts')
  return [...new Set(modules)]
}

/** These files, and all that they load at once. */
function loadedFrom(paths: readonly string[]): Set<string> {
  const imports = localImports().filter(({ typesOnly, late }) => !typesOnly && !late)
  const loaded = new Set(paths)
  for (const path of loaded) {
    for (const { from, target } of imports) if (from === path) loaded.add(target)
  }
  return loaded
}

function allBut(paths: ReadonlySet<string>): RegExp {
  return new RegExp(`^(?!(${[...paths].join('|').replaceAll('.', '\\.')})$)`)
}

test('nostr-tools is imported by subpath', () => {
  expect(importersOf(/^nostr-tools$/)).toEqual([])
})

test('code of the browser takes only pure modules from the rest of the program', () => {
  // The storage for Node is an entry of its own.
  const inBrowser = /^src\/(client(?!\/folder\.ts$)|ui\/[a-z]+)\//
  const pure =
    /^src\/(client\/|ui\/[a-z]+\/|nostr\/|coupons\/(benefit|rules|rule-times)\.ts$|pictures\/address\.ts$|shops\/color\.ts$|base\/)/
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

test('the client of the HTTP API has no UI in it', () => {
  const inClient = /^src\/client\//
  const broken = localImports().filter(
    ({ from, target }) => inClient.test(from) && target.startsWith('src/ui/'),
  )
  expect(broken.map(arrow)).toEqual([])
  const elsewhere = /^(?!src\/client\/)/
  expect([
    ...importersOf(/^(@?preact|react)\b/, elsewhere),
    // A page hands in its storage, its address and its clock for animations.
    ...placesOf(
      /(?<![.\w])(document|location|localStorage|sessionStorage|requestAnimationFrame)\b\s*[.([]/,
      elsewhere,
    ),
  ]).toEqual([])
})

test('relative imports name a file that exists', () => {
  const broken = sources.flatMap(({ path, imports }) =>
    imports
      .filter(({ target }) => target !== null && !isFile(target))
      .map(({ specifier }) => `${path} imports ${specifier}`),
  )
  expect(broken).toEqual([])
})

type Layer = 'edge' | 'store' | 'reach' | 'core'

function layerOf(path: string): Layer {
  const edge =
    /^src\/(main\.ts$|app\/|cli\/|http\/|ui\/|relay\/relay-worker\.ts$)|\/([a-z-]+-)?routes\.ts$/
  if (edge.test(path)) return 'edge'
  if (/^src\/db\/|\/([a-z-]+-)?store\.ts$/.test(path)) return 'store'
  if (/^src\/(client\/|gateway\/relays|outbound\/)/.test(path)) return 'reach'
  return 'core'
}

function arrow({ from, target }: LocalImport): string {
  return `${from} (${layerOf(from)}) → ${target} (${layerOf(target)})`
}
