/**
 * Makes node_modules what package-lock.json says, and the pinned Bun in it able to run.
 * With everything in place it reads a few dozen small files and touches no network.
 * Node's own modules only: it runs before anything is installed, under Node 18 or later and under Bun.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = dirname(dirname(fileURLToPath(import.meta.url)))
/** The package calls its program bun.exe on every system; node_modules/.bin/bun is a link to it. */
export const bun = join(root, 'node_modules', 'bun', 'bin', 'bun.exe')

const nativeWaitMs = 60_000

/** Throws a SetupError with a sentence for the terminal when the packages cannot be made right. */
export function install() {
  if (missing().length > 0) {
    fetchPackages()
    const still = missing()
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

/** Paths in node_modules that are absent or of another version; optional ones depend on the machine. */
function missing() {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  return Object.entries(packages)
    .filter(([path, wanted]) => path && !wanted.optional && versionAt(path) !== wanted.version)
    .map(([path]) => path)
}

function versionAt(path) {
  const file = join(root, path, 'package.json')
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).version : undefined
}

/** Whoever runs this script installs: Bun where there may be no Node, npm otherwise. */
function fetchPackages() {
  const hint = 'it needs the package registry once; see the lines above'
  if (process.versions.bun) {
    const hadLock = existsSync(join(root, 'bun.lock'))
    console.log('Installing the packages of package-lock.json with Bun …')
    run(process.execPath, ['install', '--frozen-lockfile'], `bun install failed: ${hint}`)
    // An older Bun ignores the setting in bunfig.toml and writes a lock file of its own.
    if (!hadLock) rmSync(join(root, 'bun.lock'), { force: true })
  } else {
    console.log('Installing the packages of package-lock.json with npm …')
    // Bun, Biome and the type checker are development packages: NODE_ENV=production must not drop them.
    const args = ['ci', '--include=dev', '--include=optional', '--no-audit', '--no-fund']
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

/** All that a script of package.json needs: the packages, and the native signature library if it can be had. */
export function setUp() {
  orExit(install)
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

if (realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) orExit(install)
