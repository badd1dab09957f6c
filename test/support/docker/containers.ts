/** Containers of the stand-in: directories with a record, and a process outside of this one. */
import { spawn, spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { until } from '../until.ts'
import { type Image, Refused } from './image.ts'

/** The gateway of the bridge. Connections from the host come from there, and here from `127.0.0.1`. */
export const gateway = '172.17.0.1'

export type Container = {
  name: string
  image: Image
  env: Record<string, string>
  command: string[]
  mounts: { target: string; source: string }[]
  /** Ports of the host with those of the container. */
  ports: Record<string, string>
  network: 'bridge' | 'host'
  restart: string
}

/**
 * The parent of the program, as the shim of a container: $1 is the policy of restarts. It writes into its directory which
 * process runs, the code of the last one, and that it has ended. The log is that of the last one. $2 is the process of the
 * test: nothing outlives it.
 */
const shim = `policy=$1; runner=$2; shift 2
(
  while kill -0 "$runner" && [ -e log ] && [ ! -e ended ]; do sleep 1; done
  while [ -e log ] && [ ! -e ended ]; do true > stopped; kill -9 "$(cat pid)"; sleep 0.1; done
) > /dev/null 2>&1 &
while :; do
  true > log
  "$@" & echo $! > new; mv new pid
  wait $!; echo $? > new; mv new code
  [ "$policy" = on-failure ] && [ "$(cat code)" != 0 ] || break
  sleep 0.1
  [ ! -e stopped ] || break
done
true > ended`

/** The containers of one machine, whose directory this is. */
export function openContainers(machine: string, runner = process.pid) {
  const all = join(machine, 'containers')
  const placeOf = (name: string) => join(all, name)
  const file = (name: string, what: string) => join(placeOf(name), what)
  const read = (name: string, what: string) =>
    existsSync(file(name, what)) ? readFileSync(file(name, what), 'utf8').trim() : ''

  function find(name: string): Container {
    if (!existsSync(file(name, 'record.json'))) throw new Refused(`No such container: ${name}`)
    return JSON.parse(read(name, 'record.json'))
  }
  const running = (name: string) => read(name, 'pid') !== '' && !existsSync(file(name, 'ended'))

  /** A path inside, on this machine: in a volume, in the image, else in what ends with the container. */
  function outside({ name, mounts }: Container, path: string): string {
    const mount = mounts.find(({ target }) => path === target || path.startsWith(`${target}/`))
    if (mount) return join(mount.source, path.slice(mount.target.length))
    return join(placeOf(name), 'root', path)
  }

  /** The environment inside, with paths, ports and the gateway as they are on this machine. */
  function environmentOf(container: Container): Record<string, string> {
    const { image, env } = container
    const given = Object.entries({ ...image.env, ...env }).map(([name, value]) => {
      if (value.startsWith('/')) return [name, outside(container, value)]
      return [name, value === gateway ? '127.0.0.1' : value]
    })
    const path = `${join(image.root, 'usr/local/bin')}:/usr/bin:/bin`
    return { ...Object.fromEntries(given), PATH: path, PORT: '0', TLS_PORT: '0' }
  }

  /** A command whose program the image has. */
  function commandIn({ image }: Container, [program = '', ...args]: readonly string[]): string[] {
    const places = program.startsWith('/') ? [program] : [`/usr/local/bin/${program}`]
    const found = places.map((place) => join(image.root, place)).find((path) => existsSync(path))
    if (found === undefined) throw new Refused(`exec: "${program}": executable file not found`)
    return [found, ...args]
  }

  async function start(container: Container): Promise<void> {
    const { name, image, restart } = container
    const command = commandIn(container, [...image.entrypoint, ...container.command])
    for (const what of ['pid', 'ended', 'stopped', 'code'])
      rmSync(file(name, what), { force: true })
    const log = openSync(file(name, 'log'), 'a')
    spawn('/bin/sh', ['-c', shim, 'shim', restart, String(runner), ...command], {
      cwd: placeOf(name),
      env: environmentOf(container),
      detached: true,
      stdio: ['ignore', log, log],
    }).unref()
    await until('the process of the container is there', () => read(name, 'pid') !== '')
  }

  const signal = (name: string, what: NodeJS.Signals) => {
    try {
      process.kill(Number(read(name, 'pid')), what)
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'ESRCH') throw cause
    }
  }

  return {
    find,
    start,
    running,
    names: () => (existsSync(all) ? readdirSync(all) : []),
    log: (name: string) => read(name, 'log'),
    pid: (name: string) => Number(read(name, 'pid')),
    exitCode: (name: string) => Number(read(name, 'code')),
    async create(container: Container): Promise<void> {
      mkdirSync(placeOf(container.name), { recursive: true })
      writeFileSync(file(container.name, 'record.json'), JSON.stringify(container))
      await start(container)
    },
    /** Run a command beside the program; its exit code. */
    exec(name: string, words: readonly string[], output: 'inherit' | 'ignore'): number {
      const container = find(name)
      if (!running(name)) throw new Refused(`container ${name} is not running`)
      const [program = '', ...args] = commandIn(container, words)
      const stdio = ['ignore', output, output] as const
      const ended = spawnSync(program, args, { env: environmentOf(container), stdio: [...stdio] })
      return ended.status ?? 137
    },
    /** End it as `docker stop` does: killed after ten seconds. */
    async stop(name: string): Promise<void> {
      find(name)
      writeFileSync(file(name, 'stopped'), '')
      if (!running(name)) return
      signal(name, 'SIGTERM')
      const late = setTimeout(() => signal(name, 'SIGKILL'), 10_000)
      await until('the container has ended', () => !running(name))
      clearTimeout(late)
    },
    remove(name: string): void {
      find(name)
      if (running(name)) throw new Refused(`container is running: stop ${name} before removing`)
      rmSync(placeOf(name), { recursive: true })
    },
    /** Kill what runs: for the end of a test. */
    async end(): Promise<void> {
      for (const name of existsSync(all) ? readdirSync(all) : []) {
        writeFileSync(file(name, 'stopped'), '')
        if (!running(name)) continue
        signal(name, 'SIGKILL')
        await until('the container has ended', () => !running(name))
      }
    },
  }
}
