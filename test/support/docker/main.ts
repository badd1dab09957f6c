/**
 * A stand-in for the command `docker` and its daemon, for the blocks of docs/operations.md: an image is what its file says,
 * and a container is the program as a process of this user, with the environment, entry point, volumes and ports that the
 * image and the command give. Nothing is isolated. So it does not show: the commands that RUN names and what they build,
 * the user of the image, a read-only root or mount, the addresses of a container, nor that a name is that of the host.
 * Inside, ports are free ones, and the gateway is 127.0.0.1. It knows only the options of the page, and refuses a
 * port and a named volume that the image does not declare, which docker takes.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Container, gateway, openContainers } from './containers.ts'
import { build, type Image, Refused } from './image.ts'

const {
  DOCKER_MACHINE: machine = '',
  DOCKER_PROGRAM: program = '[]',
  DOCKER_RUNNER: runner = '',
} = process.env
const containers = openContainers(machine, Number(runner))
const imageFile = (name: string) => join(machine, `${name}.image.json`)

function buildImage(args: readonly string[]): void {
  const [flag, name = '', context = '', ...more] = args
  if (flag !== '-t' || context === '' || more.length > 0) throw new Refused('build: -t NAME PATH')
  const root = mkdtempSync(join(machine, 'image-'))
  const image = build(context, root, JSON.parse(program))
  writeFileSync(imageFile(name), JSON.stringify(image))
}

function findImage(name: string): Image {
  if (!existsSync(imageFile(name))) throw new Refused(`Unable to find image '${name}:latest'`)
  return JSON.parse(readFileSync(imageFile(name), 'utf8'))
}

/** Options of `run` that have a value. Each may be there more than once. */
const valued = ['--restart', '--name', '--network', '-p', '-v', '-e']

function parseRun(args: readonly string[]) {
  const given = Object.fromEntries(valued.map((name) => [name, [] as string[]]))
  const rest = [...args]
  let detached = false
  while (rest[0]?.startsWith('-')) {
    const flag = rest.shift() ?? ''
    if (flag === '-d') detached = true
    else {
      const list = given[flag]
      if (!list) throw new Refused(`unknown flag: ${flag}`)
      list.push(rest.shift() ?? '')
    }
  }
  if (!detached) throw new Refused('only -d is known: it would stay in front')
  const [image = '', ...command] = rest
  const all = (name: string) => given[name] ?? []
  return { image, command, all, one: (name: string) => all(name).at(-1) }
}

async function run(args: readonly string[]): Promise<void> {
  const { image: imageName, command, all, one } = parseRun(args)
  const image = findImage(imageName)
  const name = one('--name') ?? 'unnamed'
  if (containers.names().includes(name)) throw new Refused(`The container name "${name}" is in use`)
  const restart = one('--restart') ?? 'no'
  if (!['no', 'on-failure'].includes(restart))
    throw new Refused(`invalid restart policy: ${restart}`)
  const network = one('--network') ?? 'bridge'
  if (network !== 'bridge' && network !== 'host') throw new Refused(`network ${network} not found`)
  if (network === 'host' && all('-p').length > 0)
    throw new Refused('the network of the host and -p')
  const container: Container = {
    ...{ name, image, network, restart },
    command: command.length > 0 ? command : image.command,
    env: Object.fromEntries(all('-e').map(parsePair)),
    mounts: all('-v').map((volume) => parseVolume(volume, image)),
    ports: Object.fromEntries(all('-p').map((port) => parsePort(port, image))),
  }
  for (const port of Object.keys(container.ports)) {
    const holder = containers.names().find((other) => port in containers.find(other).ports)
    if (holder && containers.running(holder)) throw new Refused(`port ${port} is allocated already`)
  }
  await containers.create(container)
  console.log(Bun.hash(name).toString(16).padStart(64, '0'))
}

function parsePair(pair: string): [string, string] {
  const [, name = '', value = ''] = /^(\w+)=(.*)$/.exec(pair) ?? []
  if (name === '') throw new Refused(`-e ${pair}: name=value`)
  return [name, value]
}

function parseVolume(volume: string, image: Image) {
  const [, source = '', target = ''] = /^([^:]+):(\/[^:]+)(?::ro)?$/.exec(volume) ?? []
  if (source === '') throw new Refused(`invalid volume: ${volume}`)
  if (source.startsWith('/')) {
    // Docker makes an empty directory then, which is never what was meant.
    if (!existsSync(source)) throw new Refused(`there is no ${source}`)
    return { source, target }
  }
  if (!image.volumes.includes(target)) throw new Refused(`the image has no volume ${target}`)
  const place = join(machine, 'volumes', source)
  mkdirSync(place, { recursive: true })
  return { source: place, target }
}

function parsePort(port: string, image: Image): [string, string] {
  const [, host = '', inside = ''] = /^(?:127\.0\.0\.1:)?(\d+):(\d+)$/.exec(port) ?? []
  if (host === '') throw new Refused(`invalid published port: ${port}`)
  if (!image.ports.includes(inside)) throw new Refused(`the image has no port ${inside}`)
  return [host, inside]
}

type Value = string | number | { [name: string]: Value }

function described(name: string): Value {
  const { network, image } = containers.find(name)
  const well = () => containers.exec(name, image.healthcheck, 'ignore') === 0
  return {
    NetworkSettings: { Networks: { [network]: { Gateway: network === 'host' ? '' : gateway } } },
    State: {
      Pid: containers.pid(name),
      ExitCode: containers.exitCode(name),
      get Health() {
        return { Status: well() ? 'healthy' : 'starting' }
      },
    },
  }
}

/** A template of Go with fields and `range`, as the page has. */
function render(template: string, value: Value): string {
  const ranges = /\{\{range ([.\w]+)\}\}(.*?)\{\{end\}\}/g
  const whole = template.replace(ranges, (_, path: string, inner: string) =>
    Object.values(fieldOf(value, path))
      .map((one) => render(inner, one))
      .join(''),
  )
  return whole.replace(/\{\{(.*?)\}\}/g, (_, path: string) => String(fieldOf(value, path)))
}

function fieldOf(value: Value, path: string): Value {
  if (!/^(\.\w+)+$/.test(path)) throw new Refused(`template parsing error: ${path}`)
  return path
    .slice(1)
    .split('.')
    .reduce((found, name) => {
      const next = typeof found === 'object' ? found[name] : undefined
      if (next === undefined) throw new Refused(`template: can't evaluate field ${name}`)
      return next
    }, value)
}

/** A container that is named, and nothing else. */
function only(args: readonly string[]): string {
  const [name = '', ...more] = args
  if (name === '' || name.startsWith('-') || more.length > 0) throw new Refused('one container')
  return name
}

const commands: Record<string, (args: string[]) => unknown> = {
  build: buildImage,
  run,
  exec([name = '', ...words]) {
    process.exitCode = containers.exec(name, words, 'inherit')
  },
  inspect([name = '', flag, template = '', ...more]) {
    if (flag !== '-f' || more.length > 0) throw new Refused('inspect: NAME -f TEMPLATE')
    console.log(render(template, described(name)))
  },
  logs: (args) => console.log(containers.log(only(args))),
  stop: (args) => containers.stop(only(args)),
  rm: (args) => containers.remove(only(args)),
  async restart(args) {
    const name = only(args)
    await containers.stop(name)
    await containers.start(containers.find(name))
  },
}

const [verb = '', ...args] = process.argv.slice(2)
try {
  const command = commands[verb]
  if (!command) throw new Refused(`'${verb}' is not a docker command.`)
  await command(args)
} catch (cause) {
  if (!(cause instanceof Refused)) throw cause
  console.error(`docker: ${cause.message}`)
  process.exitCode = 125
}
