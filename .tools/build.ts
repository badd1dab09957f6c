// Compiles the program into one executable file a target.
//   bun .tools/build.ts                         dist/cuponera, for this machine
//   bun .tools/build.ts --target linux-arm64    dist/cuponera-linux-arm64
//   bun .tools/build.ts --all                   every target, dist/cuponera and dist/SHA256SUMS
//   bun .tools/build.ts --tests                 dist/cuponera, and dist/tests: programs of the tests
// It also writes dist/cuponera.licences.txt, the text that `cuponera licences` prints.
import { createHash } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { BunPlugin } from 'bun'
import {
  collectNotices,
  noticeOf,
  packagesIn,
  programEntries,
} from '../src/cli/licences/collect.ts'
import { bundlePages } from '../src/ui/bundle.ts'

const root = resolve(import.meta.dir, '..')
const dist = join(root, 'dist')

const targets = ['linux-x64', 'linux-arm64', 'darwin-arm64', 'windows-x64'] as const
type Target = (typeof targets)[number]

/** Debian's name of the architecture whose libsecp256k1 the binary carries; the others carry none. */
const debianArches: Partial<Record<Target, string>> = {
  'linux-x64': 'amd64',
  'linux-arm64': 'arm64',
}

/** The package with Bun for a target, into which a cross build puts the program. */
const bunPackages: Record<Target, string> = {
  'linux-x64': '@oven/bun-linux-x64',
  'linux-arm64': '@oven/bun-linux-aarch64',
  'darwin-arm64': '@oven/bun-darwin-aarch64',
  'windows-x64': '@oven/bun-windows-x64',
}

type BuildInput = { target: Target; outfile: string; entries?: string[] }

/** One executable: the program, its workers, and the target's libsecp256k1 where there is one. */
export async function build({
  target,
  outfile,
  entries = programEntries,
}: BuildInput): Promise<void> {
  const library = fetchLibrary(target)
  const notices = await collectNotices()
  const executablePath = target === host() ? null : fetchBun(target)
  mkdirSync(dirname(outfile), { recursive: true })
  const result = await Bun.build({
    entrypoints: entries.map((entry) => resolve(root, entry)),
    root,
    // All in one folder, as import.meta.url of the bundled program has none either.
    naming: { entry: '[name].[ext]' },
    target: 'bun',
    format: 'esm',
    // The workers share their chunks with the program, and what is imported when it is needed is read only then.
    splitting: true,
    minify: true,
    bytecode: true,
    metafile: true,
    plugins: [
      replace(/[\\/]src[\\/]crypto[\\/]embedded\.ts$/, libraryModule(library)),
      replace(/[\\/]src[\\/]ui[\\/]built\.ts$/, await pagesModule()),
      replace(/[\\/]src[\\/]cli[\\/]licences[\\/]built\.ts$/, noticesModule(notices)),
    ],
    compile: {
      target: `bun-${target}`,
      outfile,
      ...(executablePath && { executablePath }),
      // The working directory of the program must not be able to configure or preload anything.
      autoloadBunfig: false,
      autoloadDotenv: false,
    },
  })
  if (!result.success) throw new AggregateError(result.logs, `the build for ${target} failed`)
  for (const folder of packagesIn(result)) {
    const { title } = noticeOf(folder)
    if (!notices.includes(`\n  ${title}\n`)) throw new Error(`the notices lack ${title}`)
  }
  writeFileSync(join(dirname(outfile), 'cuponera.licences.txt'), notices)
  const megabytes = Math.round(statSync(outfile).size / 1e6)
  const carries = library ? 'with libsecp256k1' : 'without libsecp256k1'
  console.log(`build: ${basename(outfile)} (${megabytes} MB, ${carries})`)
}

/** Replaces the text of one module, so that the tree needs no generated module. */
function replace(filter: RegExp, contents: string): BunPlugin {
  return {
    name: `replace ${filter.source}`,
    setup(builder) {
      builder.onLoad({ filter }, () => ({ contents, loader: 'ts' }))
    },
  }
}

/** Stands in for src/crypto/embedded.ts. */
function libraryModule(library: string | null): string {
  return library
    ? `import path from ${JSON.stringify(library)} with { type: 'file' }
       export const findCarriedLibrary = () => ({ path, origin: 'embedded' })`
    : 'export const findCarriedLibrary = () => null'
}

/** Stands in for src/ui/built.ts: the pages, bundled now. */
async function pagesModule(): Promise<string> {
  const bundle = JSON.stringify(await bundlePages())
  return `const bundle = ${JSON.stringify(bundle)}
          export const loadBundle = () => Promise.resolve(JSON.parse(bundle))`
}

/** Stands in for src/cli/licences/built.ts: the text, collected now. */
function noticesModule(notices: string): string {
  return `export const loadNotices = () => Promise.resolve(${JSON.stringify(notices)})`
}

function fetchLibrary(target: Target): string | null {
  const arch = debianArches[target]
  if (!arch) return null
  const script = join(root, '.tools/native.mjs')
  Bun.spawnSync([process.execPath, script, '--arch', arch], {
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const library = join(root, '.native', target, 'libsecp256k1.so')
  return existsSync(library) ? library : null
}

/**
 * Bun for another target, through npm: with the registry npm is configured for, and only the bytes that
 * package-lock.json names. Null without npm: Bun then downloads it by itself.
 */
function fetchBun(target: Target): string | null {
  const folder = join(root, '.native', `bun-${Bun.version}`, target)
  const executable = join(folder, target.startsWith('windows') ? 'bun.exe' : 'bun')
  if (existsSync(executable)) return executable
  if (!Bun.which('npm') || !Bun.which('tar')) return null
  mkdirSync(folder, { recursive: true })
  const work = mkdtempSync(`${folder}.`)
  try {
    const name = bunPackages[target]
    run(['npm', 'pack', '--silent', `${name}@${Bun.version}`], work)
    const archive = readdirSync(work).find((file) => file.endsWith('.tgz'))
    if (!archive) throw new Error(`npm did not bring ${name}`)
    const digest = createHash('sha512')
      .update(readFileSync(join(work, archive)))
      .digest('base64')
    if (`sha512-${digest}` !== lockedIntegrity(name)) {
      throw new Error(`${name} is not the file that package-lock.json names`)
    }
    run(['tar', '-xzf', archive], work)
    const unpacked = join(work, 'package/bin', basename(executable))
    chmodSync(unpacked, 0o755)
    renameSync(unpacked, executable)
    return executable
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

function lockedIntegrity(name: string): string | undefined {
  const lock: { packages: Record<string, { integrity?: string }> } = JSON.parse(
    readFileSync(join(root, 'package-lock.json'), 'utf8'),
  )
  return lock.packages[`node_modules/${name}`]?.integrity
}

function run(command: string[], cwd: string): void {
  const { exitCode } = Bun.spawnSync(command, { cwd, stdio: ['ignore', 'ignore', 'inherit'] })
  if (exitCode !== 0) throw new Error(`${command.join(' ')} failed`)
}

function host(): string {
  return `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
}

function parseTarget(name: string): Target {
  const target = targets.find((known) => known === name)
  if (target) return target
  console.error(`build: unknown target ${name}; known: ${targets.join(', ')}`)
  process.exit(2)
}

function fileOf(target: Target): string {
  return join(dist, `cuponera-${target}${target.startsWith('windows') ? '.exe' : ''}`)
}

async function buildAll(): Promise<void> {
  const sums: string[] = []
  for (const target of targets) {
    const outfile = fileOf(target)
    await build({ target, outfile })
    if (target === host()) {
      // A running binary cannot be written over, only replaced.
      rmSync(join(dist, 'cuponera'), { force: true })
      copyFileSync(outfile, join(dist, 'cuponera'))
    }
    sums.push(
      `${createHash('sha256').update(readFileSync(outfile)).digest('hex')}  ${basename(outfile)}\n`,
    )
  }
  writeFileSync(join(dist, 'SHA256SUMS'), sums.join(''))
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      target: { type: 'string' },
      all: { type: 'boolean', default: false },
      tests: { type: 'boolean', default: false },
    },
  })
  if (values.all) await buildAll()
  else if (values.target) {
    const target = parseTarget(values.target)
    await build({ target, outfile: fileOf(target) })
  } else {
    const target = parseTarget(host())
    await build({ target, outfile: join(dist, 'cuponera') })
    const entries = ['test/support/programs.ts', ...programEntries.slice(1)]
    if (values.tests) await build({ target, outfile: join(dist, 'tests'), entries })
  }
}
