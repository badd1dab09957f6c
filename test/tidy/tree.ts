/** The files of the repository as the rules of the house look at them. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'

export const root = join(import.meta.dir, '..', '..')
const generated = ['node_modules', 'dist', 'data', 'test-output', '.git', '.native']

type Import = {
  specifier: string
  target: string | null
  typesOnly: boolean
  /** It is loaded when that line runs, not with the file. */
  late: boolean
  names: string[]
}
type Source = { path: string; text: string; code: string; imports: Import[] }

export const allFiles = filesBelow('')
export const sources = allFiles
  .filter((path) => /^(src|test)\/.*\.tsx?$/.test(path))
  .map(readSource)
export const src = sources.filter(({ path }) => path.startsWith('src/'))

export type LocalImport = { from: string; target: string; typesOnly: boolean; late: boolean }

/** Every import from one file of src to another. */
export function localImports(): LocalImport[] {
  return src.flatMap(({ path, imports }) =>
    imports.flatMap(({ target, typesOnly, late }) =>
      target?.startsWith('src/') ? [{ from: path, target, typesOnly, late }] : [],
    ),
  )
}

function filesBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (folder === '' && generated.includes(entry.name)) return []
    return entry.isDirectory() ? filesBelow(path) : [path]
  })
}

/** Files that a person wrote: not the lock file, which repeats what packages say. */
export function handwritten(): string[] {
  return allFiles.filter(
    (path) => path !== 'package-lock.json' && !/\.(log|png|ico|woff2|wasm|so)$/.test(path),
  )
}

export function readText(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

export function isFile(path: string): boolean {
  return statSync(join(root, path), { throwIfNoEntry: false })?.isFile() ?? false
}

/** `code` has neither comments nor types: what a rule about behaviour looks at. */
function readSource(path: string): Source {
  const text = readText(path)
  const transpiler = new Bun.Transpiler({
    loader: path.endsWith('x') ? 'tsx' : 'ts',
    target: 'bun',
  })
  return {
    path,
    text,
    code: transpiler.transformSync(text),
    imports: [...importsOf(path, text), ...lateImportsOf(path, text)],
  }
}

function importsOf(path: string, text: string): Import[] {
  const statement = /^(?:import|export)\s+(type\s)?(?:([^'"`;]*?)\sfrom\s+)?'([^']+)'/gm
  return [...text.matchAll(statement)].map(([, type, clause = '', specifier = '']) => {
    const [, list = ''] = /\{([^}]*)\}/.exec(clause) ?? []
    const real = namesIn(list)
    const bare = clause.replace(/\{[^}]*\}/, '').replace(/[\s,]/g, '')
    return {
      specifier,
      target: targetOf(path, specifier),
      late: false,
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

/** Calls of `import` or `require`, with the names that they take from the module: `(await import(…)).name`, `const { name } = await …`. */
function lateImportsOf(path: string, text: string): Import[] {
  const call =
    /(typeof\s+)?(?:\{([^{}]*)\}\s*=\s*await\s+)?\b(?:import|require)\('([^']+)'\)(?:\)\.(\w+))?/g
  return [...text.matchAll(call)].map(([, type, list, specifier = '', name]) => ({
    specifier,
    target: targetOf(path, specifier),
    late: true,
    typesOnly: type !== undefined,
    // A module that is loaded as a whole may use all of it.
    names: name ? [name] : list ? namesIn(list).map((one) => one.replace(/:.*$/, '')) : ['*'],
  }))
}

function namesIn(list: string): string[] {
  return list
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
}

function targetOf(path: string, specifier: string): string | null {
  return specifier.startsWith('.') ? join(dirname(path), specifier) : null
}

/** Files that load it at once: an import of types alone is gone from the program. */
export function loadersOf(specifier: RegExp, ...except: RegExp[]): string[] {
  const loading = src.map((file) => ({
    ...file,
    imports: file.imports.filter(({ typesOnly, late }) => !typesOnly && !late),
  }))
  return importersAmong(loading, specifier, except)
}

export function importersOf(specifier: RegExp, ...except: RegExp[]): string[] {
  return importersAmong(src, specifier, except)
}

function importersAmong(files: readonly Source[], specifier: RegExp, except: RegExp[]): string[] {
  return files
    .filter(({ path }) => !except.some((place) => place.test(path)))
    .flatMap(({ path, imports }) =>
      imports
        .filter((found) => specifier.test(found.specifier))
        .map((found) => `${path} imports ${found.specifier}`),
    )
}

export function placesOf(pattern: RegExp, except: RegExp): string[] {
  return src
    .filter(({ path }) => !except.test(path))
    .flatMap(({ path, code }) =>
      code
        .split('\n')
        .filter((line) => pattern.test(line))
        .map((line) => `${path}: ${line.trim()}`),
    )
}

export function linesOf(paths: string[], pattern: RegExp): string[] {
  return paths.flatMap((path) =>
    readText(path)
      .split('\n')
      .flatMap((line, index) =>
        pattern.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : [],
      ),
  )
}
