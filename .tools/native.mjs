#!/usr/bin/env node
// Fetches the distribution's libsecp256k1 into .native/, without root: the fast signature engine.
//   node .tools/native.mjs [--arch amd64|arm64] [--require]
import {
  copyFileSync,
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
import { firstLine, hostArch, unpackPackage } from './debian.mjs'

const root = resolve(import.meta.dirname, '..')
const secondsMax = 60
const deadline = Date.now() + secondsMax * 1000
const machines = {
  amd64: { platform: 'linux-x64', folder: 'x86_64-linux-gnu' },
  arm64: { platform: 'linux-arm64', folder: 'aarch64-linux-gnu' },
}
/** The package is named after the library's ABI: the newest that there is. */
const names = ['6', '5', '2', '1', '0'].map((abi) => `libsecp256k1-${abi}`)

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
  const work = mkdtempSync(join(tmpdir(), 'cuponera-native-'))
  try {
    const files = unpackPackage(names, { work, arch, deadline })
    const found = findLibrary(join(files, 'usr/lib', machine.folder))
    if (!found) throw new Error('the package holds no library')
    place(found, target)
    console.log(`native: ${machine.platform}: fetched libsecp256k1 from the distribution`)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
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
