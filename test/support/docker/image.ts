/** The part of `docker build` that the stand-in has: it reads the file of the image, and runs nothing in it. */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

export type Image = {
  /** Its files, but for those of the system. */
  root: string
  env: Record<string, string>
  entrypoint: string[]
  command: string[]
  healthcheck: string[]
  volumes: string[]
  ports: string[]
}

export class Refused extends Error {}

type Instruction = { word: string; rest: string }

/** Instructions of a file, without comments, each on one line. */
export function instructionsOf(text: string): Instruction[] {
  const lines = text
    .replace(/^#.*\n/gm, '')
    .replace(/\\\n/g, ' ')
    .split('\n')
  return lines
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, word = '', rest = ''] = /^(\w+)\s+(.*)$/.exec(line) ?? []
      return { word, rest: rest.trim() }
    })
}

/** Whether a path of the context is sent to the daemon, by the rules of `.dockerignore`. */
export function isSent(ignored: string, path: string): boolean {
  let sent = true
  for (const line of ignored.split('\n')) {
    if (line === '' || line.startsWith('#')) continue
    const pattern = line.replace(/^!/, '')
    if (/[?[\\]|\*./.test(pattern)) throw new Refused(`.dockerignore: ${line} is not understood`)
    const fits = pattern === '*' || path === pattern || path.startsWith(`${pattern}/`)
    if (fits) sent = line.startsWith('!')
  }
  return sent
}

/** One stage: its instructions, and the paths of files that later stages may take. */
type Stage = {
  name: string
  workdir: string
  has: (path: string) => boolean
  scripts: Record<string, string>
  made: Set<string>
}

/** Read the Dockerfile of a context. `program`: the command that stands for the file that `npm run build` writes. */
export function build(context: string, root: string, program: readonly string[]): Image {
  const ignored = readFileSync(join(context, '.dockerignore'), 'utf8')
  const stages: Stage[] = []
  let image = newImage(root)
  for (const { word, rest } of instructionsOf(readFileSync(join(context, 'Dockerfile'), 'utf8'))) {
    const stage = stages.at(-1)
    if (word === 'FROM') {
      const [, name = ''] = /\sAS\s+(\S+)$/i.exec(rest) ?? []
      const has = () => false
      stages.push({ name, workdir: '/', has, scripts: {}, made: new Set() })
      image = newImage(root)
    } else if (!stage) throw new Refused(`${word} before FROM`)
    else if (word === 'WORKDIR') stage.workdir = rest
    else if (word === 'RUN') run(stage, rest)
    else if (word === 'COPY') copy({ context, ignored, stages, stage, root, program }, rest)
    else configure(image, word, rest)
  }
  return image
}

const newImage = (root: string): Image => {
  const lists = { entrypoint: [], command: [], healthcheck: [], volumes: [], ports: [] }
  return { root, env: {}, ...lists }
}

/** Of its commands only the scripts of npm are known: where the package says what they write. */
function run(stage: Stage, command: string): void {
  for (const [, name = ''] of command.matchAll(/\bnpm run (\S+)/g)) {
    const script = stage.scripts[name]
    if (script === undefined) throw new Refused(`npm error Missing script: "${name}"`)
    for (const file of script.split(' ').slice(1)) {
      if (!stage.has(file)) throw new Refused(`Cannot find module '${file}'`)
    }
    if (script.endsWith(' .tools/build.ts')) stage.made.add(join(stage.workdir, 'dist/cuponera'))
  }
}

type Copied = {
  context: string
  ignored: string
  stages: readonly Stage[]
  stage: Stage
  root: string
  program: readonly string[]
}

function copy({ context, ignored, stages, stage, root, program }: Copied, rest: string): void {
  const words = rest.split(/\s+/)
  const [, from] = /^--from=(.+)$/.exec(words[0] ?? '') ?? []
  const target = words.at(-1) ?? ''
  if (from !== undefined) {
    const made = stages.find(({ name }) => name === from)?.made
    if (!made?.has(words[1] ?? '')) throw new Refused(`"${words[1]}" is not in ${from}: not found`)
    writeProgram(join(root, target), program)
    return
  }
  const sent = (path: string) => existsSync(join(context, path)) && isSent(ignored, path)
  const copied = words.slice(0, -1).map((word) => normalize(word))
  const lost = copied.find((path) => path !== '.' && !sent(path))
  if (lost !== undefined) throw new Refused(`COPY ${lost}: not found`)
  const before = stage.has
  const whole = copied.includes('.')
  stage.has = (path) => before(path) || (sent(path) && (whole || copied.includes(path)))
  if (!stage.has('package.json')) return
  stage.scripts = JSON.parse(readFileSync(join(context, 'package.json'), 'utf8')).scripts
}

function writeProgram(path: string, program: readonly string[]): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, `#!/bin/sh\nexec ${program.map((part) => `'${part}'`).join(' ')} "$@"\n`)
  chmodSync(path, 0o755)
}

function configure(image: Image, word: string, rest: string): void {
  switch (word) {
    case 'ENV':
      for (const pair of rest.split(/\s+/)) {
        const [, name = '', value = ''] = /^(\w+)=(.*)$/.exec(pair) ?? []
        if (name === '') throw new Refused(`ENV ${pair}: a pair is written name=value`)
        image.env[name] = value
      }
      return
    case 'VOLUME':
      image.volumes.push(...rest.split(/\s+/))
      return
    case 'EXPOSE':
      image.ports.push(...rest.split(/\s+/))
      return
    case 'ENTRYPOINT':
      image.entrypoint = JSON.parse(rest)
      return
    case 'CMD':
      image.command = JSON.parse(rest)
      return
    case 'HEALTHCHECK':
      image.healthcheck = JSON.parse(rest.replace(/^.*?\bCMD /, ''))
      return
    // Its user is not taken: only root could.
    case 'USER':
      return
    default:
      throw new Refused(`unknown instruction: ${word}`)
  }
}
