// A package of the distribution without root: fetched and unpacked into a folder, and nothing is installed.
// apt checks its signatures, and the system's configuration is only read.
import { execFileSync } from 'node:child_process'
import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export const hostArch = { x64: 'amd64', arm64: 'arm64' }[process.arch]

/**
 * Fetch the first of these packages that there is into `work`, a folder of its own, and unpack it there. `paths`: only
 * these of its files, such as `./usr/sbin/nginx`. `lists`: a folder for package lists that several calls share. The
 * folder that has the files. Throws after `deadline`, in Unix milliseconds.
 */
export function unpackPackage(names, { work, arch = hostArch, deadline, paths = [], lists }) {
  for (const tool of ['apt-get', 'dpkg-deb']) {
    if (!hasTool(tool)) throw new Error(`${tool} is not here (it comes from a Debian package)`)
  }
  const job = { names, work, arch, deadline, state: lists ?? join(work, 'apt') }
  const local = process.platform === 'linux' && arch === hostArch
  const archive = (local && downloadWithSystemLists(job)) || downloadWithOwnLists(job)
  const files = join(work, 'files')
  mkdirSync(files)
  if (paths.length === 0) run('dpkg-deb', ['-x', archive, files], job)
  else {
    const tar = join(work, 'files.tar')
    run('sh', ['-c', 'dpkg-deb --fsys-tarfile "$1" > "$2"', 'sh', archive, tar], job)
    run('tar', ['-xf', tar, '-C', files, ...paths], job)
  }
  return files
}

/** The first line in which apt says why, else what the error says. */
export function firstLine(error) {
  const said = String(error?.stderr ?? '').split('\n')
  return (
    said.find((line) => line.startsWith('E:')) ?? String(error?.message ?? error).split('\n')[0]
  )
}

/** Fetch by the package lists of this machine; null when it has none or they are too old. */
function downloadWithSystemLists(job) {
  try {
    return download(job, [])
  } catch {
    return null
  }
}

/** Fetch by own package lists in `state`, which are made once. */
function downloadWithOwnLists(job) {
  const { arch, state } = job
  for (const folder of ['lists/partial', 'cache/archives/partial']) {
    mkdirSync(join(state, folder), { recursive: true })
  }
  const sources = join(state, 'sources')
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
  const updated = join(state, 'updated')
  if (!existsSync(updated)) {
    run('apt-get', [...options, '-q', 'update'], job)
    writeFileSync(updated, '')
  }
  return download(job, options)
}

function download(job, options) {
  const { names, work, deadline } = job
  for (const name of names) {
    const before = new Set(readdirSync(work))
    try {
      run('apt-get', [...options, '-q', 'download', name], job)
    } catch (error) {
      if (name === names.at(-1) || Date.now() > deadline) throw error
      continue
    }
    const archive = readdirSync(work).find((one) => !before.has(one) && one.endsWith('.deb'))
    if (archive) return join(work, archive)
  }
  throw new Error('the package did not arrive')
}

function hasTool(name) {
  try {
    execFileSync(name, ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

function run(command, args, { work, deadline }) {
  const timeout = deadline - Date.now()
  if (timeout <= 0) throw new Error('it took too long')
  execFileSync(command, args, {
    cwd: work,
    timeout,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, LC_ALL: 'C' },
  })
}
