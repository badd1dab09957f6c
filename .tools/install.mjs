/**
 * Installs the packages of package-lock.json, and makes the pinned Bun among them ready to run. Running the
 * program needs less than half of them: the rest is fetched when a tool of the tests is started.
 * With everything in place it reads a few dozen small files and uses no network.
 * Node's own modules only: it runs before anything is installed, under Node 18 or later and under Bun.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = dirname(dirname(fileURLToPath(import.meta.url)))
/** The package calls its program bun.exe on every system; node_modules/.bin/bun is a link to it. */
export const bun = join(root, 'node_modules', 'bun', 'bin', 'bun.exe')

/** This file exists from the beginning of an installation to its successful end. */
const unfinished = join(root, '.native', 'installing')

const nativeWaitMs = 60_000

/**
 * Throws a SetupError with a sentence for the terminal when the packages cannot be installed; `tests`: also
 * those of the tests.
 */
export function install({ tests }) {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  // After an interruption a package may lack files although its version is right.
  const needed = whatToInstall(
    packages,
    existsSync(unfinished) ? () => undefined : versionAt,
    tests,
  )
  if (needed !== 'nothing') {
    mkdirSync(dirname(unfinished), { recursive: true })
    writeFileSync(unfinished, '')
    fetchPackages(needed)
    rmSync(unfinished)
    const still = missing(packages, versionAt, needed === 'all')
    if (still.length > 0) {
      throw new SetupError(`after the installation these packages are still wrong: ${still}`)
    }
  }
  if (!bunRuns()) {
    // Lifecycle scripts were skipped, so the program is a placeholder: do what its script would have done.
    const script = join('node_modules', 'bun', 'install.js')
    run(process.execPath, [script], `the install step of Bun failed; try: node ${script}`)
    if (!bunRuns()) throw new SetupError('the pinned Bun does not run on this machine')
  }
}

export class SetupError extends Error {}

/**
 * The packages to install: `nothing`, those for `running` the program, or `all`. An installation removes
 * every other package, so where packages of the tests are present already it is `all`.
 */
export function whatToInstall(packages, versionAt, tests) {
  if (missing(packages, versionAt, tests).length === 0) return 'nothing'
  const some = Object.keys(packages[''].devDependencies).some((name) => {
    return versionAt(`node_modules/${name}`) !== undefined
  })
  return tests || some ? 'all' : 'running'
}

/**
 * Packages that are absent or of another version where those that need them look for them: npm and Bun
 * lay the same packages out in different folders. Optional ones depend on the machine.
 */
function missing(packages, versionAt, tests) {
  const wrong = new Set()
  const visited = new Set()
  const visit = (names, locked, found) => {
    for (const name of Object.keys(names)) {
      const wantedPath = resolve(locked, name, (path) => path in packages)
      const wanted = packages[wantedPath]
      const path = resolve(found, name, (one) => versionAt(one) !== undefined)
      if (path === undefined && wanted?.optional) continue
      if (path === undefined || versionAt(path) !== wanted?.version) wrong.add(name)
      else if (!visited.has(path)) {
        visited.add(path)
        visit({ ...wanted.dependencies, ...wanted.optionalDependencies }, wantedPath, path)
      }
    }
  }
  const { dependencies, devDependencies } = packages['']
  visit({ ...dependencies, ...(tests ? devDependencies : {}) }, '', '')
  return [...wrong]
}

/** The place where code in a folder finds a package: beside it, or beside a folder around it. */
function resolve(folder, name, exists) {
  const path = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`
  if (exists(path) || folder === '') return exists(path) ? path : undefined
  return resolve(
    folder.slice(0, Math.max(0, folder.lastIndexOf('node_modules/') - 1)),
    name,
    exists,
  )
}

function versionAt(path) {
  const file = join(root, path, 'package.json')
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).version : undefined
}

/** The program that runs this script also installs: Bun where there may be no Node, npm otherwise. */
function fetchPackages(needed) {
  const all = needed === 'all'
  const some = all ? 'the packages' : 'what running needs'
  const hint = 'it needs the package registry once; see the lines above'
  if (process.versions.bun) {
    const hadLock = existsSync(join(root, 'bun.lock'))
    console.log(`Installing ${some} of package-lock.json with Bun …`)
    // Bun would bring optional peers, too, such as a type checker.
    const less = all ? [] : ['--production', '--omit=peer']
    const args = ['install', '--frozen-lockfile', ...less]
    run(process.execPath, args, `bun install failed: ${hint}`)
    // An older Bun ignores the setting in bunfig.toml and writes a lock file of its own.
    if (!hadLock) rmSync(join(root, 'bun.lock'), { force: true })
  } else {
    console.log(`Installing ${some} of package-lock.json with npm …`)
    // Always explicit, since NODE_ENV=production would change it. The native part of Bun is optional.
    const dev = all ? '--include=dev' : '--omit=dev'
    const args = ['ci', dev, '--include=optional', '--no-audit', '--no-fund']
    run('npm', args, `npm ci failed: ${hint}`, process.platform === 'win32')
  }
}

function run(command, args, complaint, shell = false) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: 'inherit', shell })
  if (error?.code === 'ENOENT') throw new SetupError(`${command} is not on this machine`)
  if (error) throw error
  if (status !== 0) throw new SetupError(complaint)
}

function bunRuns() {
  return spawnSync(bun, ['--version'], { stdio: 'ignore' }).status === 0
}

/** Prepare for a script of package.json: packages, and the native signature library if it is available. */
export function setUp({ tests }) {
  orExit(() => install({ tests }))
  const library = join(root, '.native', `${process.platform}-${process.arch}`, 'libsecp256k1.so')
  if (existsSync(library)) return
  // Without it the program signs in JavaScript, so neither a failure nor a slow network stops anything.
  const script = join(root, '.tools', 'native.mjs')
  spawnSync(process.execPath, [script], { cwd: root, stdio: 'inherit', timeout: nativeWaitMs })
}

/** An expected failure becomes one line and exit code 1. */
function orExit(step) {
  try {
    step()
  } catch (error) {
    if (!(error instanceof SetupError)) throw error
    console.error(`Set-up failed: ${error.message}.`)
    process.exit(1)
  }
}

if (realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  orExit(() => install({ tests: true }))
}
