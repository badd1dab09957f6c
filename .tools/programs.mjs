#!/usr/bin/env node
// Gets the programs that the pages for operators configure, for their tests: Debian's, into .native/, without root.
// Where one is installed or cannot be had, it says so; it ends with 0 in any case.
//   node .tools/programs.mjs
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { firstLine, unpackPackage } from './debian.mjs'

const root = resolve(import.meta.dirname, '..')
const secondsMax = 60
const deadline = Date.now() + secondsMax * 1000

/** Each with its package, its place in there, and the argument that shows its version. */
const programs = [
  { from: 'nginx', path: 'usr/sbin/nginx', version: '-v', size: '0.5 MB' },
  { from: 'caddy', path: 'usr/bin/caddy', version: 'version', size: '9 MB' },
  { from: 'prometheus', path: 'usr/bin/promtool', version: '--version', size: '19 MB' },
]

for (const program of programs) {
  const name = basename(program.path)
  try {
    console.log(`${name}: ${findInstalled(program) ?? fetchProgram(program)}`)
  } catch (error) {
    console.log(`${name}: none (${firstLine(error)})`)
  }
}

function findInstalled({ path, version }) {
  const name = basename(path)
  return [name, `/usr/sbin/${name}`].find((one) => runs(one, version))
}

function fetchProgram({ from, path, version, size }) {
  const name = basename(path)
  const target = join(root, '.native', name, name)
  if (existsSync(target)) return target
  const work = mkdtempSync(join(tmpdir(), `cuponera-${name}-`))
  try {
    const files = unpackPackage([from], { work, deadline, paths: [`./${path}`] })
    const unpacked = join(files, path)
    if (!runs(unpacked, version)) throw new Error("Debian's does not run here")
    mkdirSync(dirname(target), { recursive: true })
    copyFileSync(unpacked, `${target}.${process.pid}`)
    renameSync(`${target}.${process.pid}`, target)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
  return `${target} (${size}, once)`
}

function runs(command, version) {
  return spawnSync(command, [version], { stdio: 'ignore', timeout: 30_000 }).status === 0
}
