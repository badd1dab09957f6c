// Packs the client for npm: `npm run client-pack` leaves dist/cuponera-<version>.tgz.
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { dependencies, license, name, version } from '../../package.json'
import { noticeOf, packagesIn } from '../../src/cli/licences/collect.ts'

const root = resolve(import.meta.dir, '../..')
/** The files that programs import. A browser takes the first one only. */
const [entry, folder] = ['index', 'folder'].map((name) => join(root, `src/client/${name}.ts`)) as [
  string,
  string,
]

/** Make the package, and return the path of its archive in `folder`. */
export async function packClient(target: string): Promise<string> {
  const stage = mkdtempSync(join(tmpdir(), 'cuponera-pack-'))
  try {
    await writeScripts(stage)
    writeTypes(stage)
    writeFileSync(join(stage, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
    writeFileSync(join(stage, 'README.md'), readme())
    copyFileSync(join(root, 'LICENSE'), join(stage, 'LICENSE'))
    mkdirSync(target, { recursive: true })
    return join(
      target,
      run(['npm', 'pack', '--silent', '--pack-destination', target], stage).trim(),
    )
  } finally {
    rmSync(stage, { recursive: true, force: true })
  }
}

/**
 * Not the package.json of the program, which nobody installs from npm: it stays private, and its dependencies are
 * those of the service.
 */
const manifest = {
  name,
  version,
  description:
    'Client of the HTTP API of Cuponera: coupons on Nostr, for tills, wallets and panels.',
  license,
  type: 'module',
  sideEffects: false,
  exports: {
    './client': { types: './types/index.d.ts', default: './index.js' },
    // A bundler for browsers refuses it.
    './client/folder': { types: './types/folder.d.ts', node: './folder.js' },
  },
  engines: { node: '>=20' },
  dependencies: { 'nostr-tools': `^${dependencies['nostr-tools']}` },
}

/** The client as plain JavaScript, with the few foreign functions it needs beside nostr-tools, and their licences. */
async function writeScripts(stage: string): Promise<void> {
  const built = await Bun.build({
    entrypoints: [entry],
    outdir: stage,
    target: 'browser',
    format: 'esm',
    // The code of remote signers is loaded when it is needed.
    splitting: true,
    naming: { chunk: '[name]-[hash].[ext]' },
    external: ['nostr-tools/*'],
    metafile: true,
  })
  const plain = await Bun.build({ entrypoints: [folder], outdir: stage, target: 'node' })
  const logs = [...built.logs, ...plain.logs]
  if (!built.success || !plain.success) throw new AggregateError(logs, 'the client cannot be built')
  const notices = [...packagesIn(built)].toSorted(byText).map(noticeOf)
  const texts = notices.map(({ title, text }) => `${title}\n\n${text.trim()}\n`)
  writeFileSync(join(stage, 'licences.txt'), texts.join('\n'))
}

function byText(a: string, b: string): number {
  return a < b ? -1 : 1
}

/** The declarations that the entries lead to. */
function writeTypes(stage: string): void {
  const work = mkdtempSync(join(tmpdir(), 'cuponera-pack-types-'))
  try {
    const settings = {
      extends: join(root, 'tsconfig.json'),
      compilerOptions: {
        ...{ noEmit: false, declaration: true, emitDeclarationOnly: true },
        stripInternal: true,
        ...{ outDir: join(work, 'types'), rootDir: join(root, 'src') },
        typeRoots: [join(root, 'node_modules/@types')],
      },
      ...{ files: [entry, folder], include: [] },
    }
    writeFileSync(join(work, 'tsconfig.json'), JSON.stringify(settings))
    run([join(root, 'node_modules/.bin/tsc'), '-p', work], work)
    copyTypes(join(work, 'types/client'), join(stage, 'types'))
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

function copyTypes(from: string, to: string): void {
  const paths = new Set(['index.d.ts', 'folder.d.ts'].map((name) => join(from, name)))
  for (const path of paths) {
    const inside = relative(from, path)
    // The service's own types bring all of the service, so those of the client are made of the document.
    if (inside.startsWith('..')) throw new Error(`the types of the client need ${inside}`)
    const text = readFileSync(path, 'utf8')
    const reference = /((?:from |import\()['"])(\.[^'"]+)\.ts(?=['"])/g
    for (const [, , file] of text.matchAll(reference))
      paths.add(join(dirname(path), `${file}.d.ts`))
    mkdirSync(dirname(join(to, inside)), { recursive: true })
    writeFileSync(join(to, inside), text.replace(reference, '$1$2.js'))
  }
}

/** The page of the documentation, whose links lead nowhere outside of it. */
function readme(): string {
  const page = readFileSync(join(root, 'docs/api/client.md'), 'utf8')
  return page.replace(/\[([^\]]+)\]\([^)#]+\.md[^)]*\)/g, '$1')
}

function run(command: string[], cwd: string): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, { cwd, stderr: 'pipe' })
  if (exitCode === 0) return stdout.toString()
  throw new Error(`${basename(command[0] ?? '')} failed: ${stdout}${stderr}`)
}

if (import.meta.main) console.log(await packClient(join(root, 'dist')))
