/**
 * The programs that the pages for operators configure, for their tests: installed ones, else Debian's, without root.
 *   bun .tools/programs.ts     gets those that are not here, and prints which
 * It ends with 1 only where Debian was reached and a program did not come in time; one that cannot be had is no failure.
 */
import { spawnSync } from 'node:child_process'
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
import { basename, dirname, join, resolve } from 'node:path'

/** Each with its package, its place in there, and arguments that show its version. From the smallest to the largest. */
const programs = {
  // Before 1.19.5 it has no -e, which the tests need.
  nginx: { from: 'nginx', path: 'usr/sbin/nginx', version: ['-e', 'stderr', '-v'], size: '0.5 MB' },
  caddy: { from: 'caddy', path: 'usr/bin/caddy', version: ['version'], size: '9 MB' },
  promtool: {
    from: 'prometheus',
    path: 'usr/bin/promtool',
    version: ['--version'],
    size: '19 MB',
  },
}
export type ProgramName = keyof typeof programs

const kept = resolve(import.meta.dir, '../.native', `${process.platform}-${process.arch}`)
/** For each program; that of the first one includes the package lists. */
const secondsMax = 60

/** A program that is installed or was fetched before, and runs; null where there is none. */
export function findProgram(name: ProgramName): string | null {
  const installed = Bun.which(name, { PATH: `${process.env.PATH}:/usr/sbin` })
  const places = [...(installed ? [installed] : []), join(kept, name)]
  return places.find((path) => runs(path, name)) ?? null
}

function runs(path: string, name: ProgramName): boolean {
  const { version } = programs[name]
  if (!existsSync(path)) return false
  return spawnSync(path, version, { stdio: 'ignore', timeout: 30_000 }).status === 0
}

type Job = { work: string; deadline: number; paths: string[]; lists: string }
type Debian = {
  unpackPackage: (names: string[], job: Job) => string
  firstLine: (error: unknown) => string
}

/** Fetch one program. `lists`: a folder for package lists, which the programs share. */
function fetchProgram(debian: Debian, name: ProgramName, to: { lists: string; deadline: number }) {
  const { from, path } = programs[name]
  const work = mkdtempSync(join(tmpdir(), `cuponera-${basename(path)}-`))
  try {
    const files = debian.unpackPackage([from], { ...to, work, paths: [`./${path}`] })
    const unpacked = join(files, path)
    if (!runs(unpacked, name)) throw new Error("Debian's does not run here")
    const target = join(kept, name)
    mkdirSync(dirname(target), { recursive: true })
    copyFileSync(unpacked, `${target}.${process.pid}`)
    renameSync(`${target}.${process.pid}`, target)
    return target
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** Fetch those that are not here. False if one came from Debian and another one did not come in time. */
async function fetchAll(): Promise<boolean> {
  // The script has no types: it runs before a type checker is installed.
  const script: string = './debian.mjs'
  const debian: Debian = await import(script)
  const lists = mkdtempSync(join(tmpdir(), 'cuponera-lists-'))
  const lost: ProgramName[] = []
  let came = false
  try {
    for (const name of Object.keys(programs) as ProgramName[]) {
      const found = findProgram(name)
      if (found) {
        console.log(`${name}: ${found}`)
        continue
      }
      const deadline = Date.now() + secondsMax * 1000
      try {
        const target = fetchProgram(debian, name, { lists, deadline })
        console.log(`${name}: ${target} (${programs[name].size}, once)`)
        came = true
      } catch (error) {
        console.log(`${name}: none (${debian.firstLine(error)})`)
        if (Date.now() < deadline) continue
        // Debian cannot be reached: the larger ones would take their time for nothing.
        if (!came && !hasList(lists)) break
        lost.push(name)
      }
    }
  } finally {
    rmSync(lists, { recursive: true, force: true })
  }
  return lost.length === 0
}

/** Whether a package list of Debian arrived, even if nothing behind it did. */
function hasList(lists: string): boolean {
  const folder = join(lists, 'lists')
  return existsSync(folder) && readdirSync(folder).some((name) => name.endsWith('InRelease'))
}

if (import.meta.main) process.exitCode = (await fetchAll()) ? 0 : 1
