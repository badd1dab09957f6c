#!/usr/bin/env node
// Fetches the distribution's libsecp256k1 into .native/, without root: the fast signature engine.
//   node .tools/native.mjs [--arch amd64|arm64] [--require]
import { execFileSync } from 'node:child_process'
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'

const root = resolve(import.meta.dirname, '..')
const secondsMax = 60
const deadline = Date.now() + secondsMax * 1000
const hostArch = { x64: 'amd64', arm64: 'arm64' }[process.arch]
const machines = {
  amd64: { platform: 'linux-x64', folder: 'x86_64-linux-gnu' },
  arm64: { platform: 'linux-arm64', folder: 'aarch64-linux-gnu' },
}

const { values } = parseArgs({
  options: { arch: { type: 'string' }, require: { type: 'boolean', default: false } },
})
const arch = values.arch ?? hostArch
const machine = arch === undefined ? undefined : machines[arch]

try {
  fetchLibrary()
} catch (error) {
  console.log(`native: no libsecp256k1 for ${arch}: ${firstLine(error)}`)
  if (values.require) process.exitCode = 1
}

function fetchLibrary() {
  if (!machine) throw new Error('known architectures are amd64 and arm64')
  const target = join(root, '.native', machine.platform, 'libsecp256k1.so')
  if (existsSync(target)) return
  const local = process.platform === 'linux' && arch === hostArch
  const installed = local ? findLibrary(`/usr/lib/${machine.folder}`) : null
  if (installed) {
    place(installed, target)
    console.log(`native: ${machine.platform}: copied the installed ${installed}`)
    return
  }
  for (const tool of ['apt-get', 'dpkg-deb']) {
    if (!hasTool(tool)) throw new Error(`${tool} is not here (it comes from a Debian package)`)
  }
  const work = mkdtempSync(join(tmpdir(), 'cuponera-native-'))
  try {
    const archive = local ? downloadWithSystemLists(work) : null
    run('dpkg-deb', ['-x', archive ?? downloadWithOwnLists(work), join(work, 'files')], work)
    const found = findLibrary(join(work, 'files/usr/lib', machine.folder))
    if (!found) throw new Error('the package holds no library')
    place(found, target)
    console.log(`native: ${machine.platform}: fetched libsecp256k1 from the distribution`)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** Fetch by the package lists of this machine; null when it has none or they are too old. */
function downloadWithSystemLists(work) {
  try {
    return download(work, [])
  } catch {
    return null
  }
}

/** Fetch by own package lists below `work`: the system's configuration and state are only read. */
function downloadWithOwnLists(work) {
  const state = join(work, 'apt')
  for (const folder of ['lists/partial', 'cache/archives/partial']) {
    mkdirSync(join(state, folder), { recursive: true })
  }
  const sources = join(work, 'sources')
  mkdirSync(join(sources, 'parts'), { recursive: true })
  if (existsSync('/etc/apt/sources.list')) {
    copyFileSync('/etc/apt/sources.list', join(sources, 'sources.list'))
  }
  // Only the distribution's own sources: others may not know the architecture.
  for (const name of ['debian.sources', 'raspi.list', 'ubuntu.sources']) {
    const file = join('/etc/apt/sources.list.d', name)
    if (existsSync(file)) cpSync(file, join(sources, 'parts', name))
  }
  const options = [
    `APT::Architecture=${arch}`,
    `APT::Architectures=${arch}`,
    `Dir::State::lists=${join(state, 'lists')}`,
    `Dir::State::status=/dev/null`,
    `Dir::Cache=${join(state, 'cache')}`,
    `Dir::Etc::sourcelist=${join(sources, 'sources.list')}`,
    `Dir::Etc::sourceparts=${join(sources, 'parts')}`,
    'Acquire::Languages=none',
    'Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false',
    'Acquire::IndexTargets::deb::CNF::DefaultEnabled=false',
  ].flatMap((option) => ['-o', option])
  run('apt-get', [...options, '-q', 'update'], work)
  return download(work, options)
}

/** The package is named after the library's ABI: take the newest in the lists. */
function download(work, options) {
  for (const abi of ['6', '5', '2', '1', '0']) {
    const before = new Set(readdirSync(work))
    try {
      run('apt-get', [...options, '-q', 'download', `libsecp256k1-${abi}`], work)
    } catch (error) {
      if (abi === '0' || Date.now() > deadline) throw error
      continue
    }
    const archive = readdirSync(work).find((name) => !before.has(name) && name.endsWith('.deb'))
    if (archive) return join(work, archive)
  }
  throw new Error('the package did not arrive')
}

function findLibrary(folder) {
  if (!existsSync(folder)) return null
  const names = readdirSync(folder).filter((name) => /^libsecp256k1\.so\.[\d.]+$/.test(name))
  const [longest] = names.sort((a, b) => b.length - a.length)
  return longest ? join(folder, longest) : null
}

/** Copy, then rename: a reader or a second run never sees half a library. */
function place(from, target) {
  mkdirSync(resolve(target, '..'), { recursive: true })
  const part = `${target}.${process.pid}`
  copyFileSync(from, part)
  renameSync(part, target)
}

function hasTool(name) {
  try {
    execFileSync(name, ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

function run(command, args, cwd) {
  const timeout = deadline - Date.now()
  if (timeout <= 0) throw new Error(`gave up after ${secondsMax} s`)
  execFileSync(command, args, {
    cwd,
    timeout,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, LC_ALL: 'C' },
  })
}

function firstLine(error) {
  const said = String(error?.stderr ?? '').split('\n')
  return (
    said.find((line) => line.startsWith('E:')) ?? String(error?.message ?? error).split('\n')[0]
  )
}
