/**
 * Units of systemd, run without it, as the user of the test: the command with the environment, state directory,
 * credentials, restarts and stop that the unit names, below a directory in place of `/`. Not shown: the user that the
 * manager makes, and the directives that shut the service in, which only the manager can apply. There is no pause before
 * a restart, and a start that fails is the last one.
 */
import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { program } from './program.ts'
import { newDirectory } from './server.ts'
import { until } from './until.ts'

/** Directives that are followed here, by their section. Those with `null` are left to the manager. */
const known: Record<string, Record<string, RegExp | null>> = {
  Unit: {
    ...{ Description: /./, After: /^(\S+\.target ?)+$/, Wants: /^(\S+\.target ?)+$/ },
    StartLimitIntervalSec: /^0$/,
  },
  Service: {
    ...{ ExecStart: /^\/\S+( \S+)*$/, Environment: /^(\w+=[^\s"'\\]+ ?)+$/ },
    ...{ EnvironmentFile: /^\/\S+$/, LoadCredential: /^\w+:\/\S+$/ },
    ...{ StateDirectory: /^\w+$/, StateDirectoryMode: /^0\d{3}$/ },
    ...{ Restart: /^on-failure$/, RestartSec: /^\d+$/, TimeoutStopSec: /^\d+$/ },
    ...{ DynamicUser: null, NoNewPrivileges: null, ProtectSystem: null, ProtectHome: null },
    ...{ PrivateTmp: null, PrivateDevices: null, RestrictAddressFamilies: null },
  },
  Install: { WantedBy: /^multi-user\.target$/ },
}

type Unit = { all: (name: string) => string[]; one: (name: string) => string }

/** The directives of a unit. Throws where one is unknown, or has a value that is not understood. */
export function parseUnit(text: string): Unit {
  const found: [name: string, value: string][] = []
  let section = ''
  for (const line of text.split('\n')) {
    if (line.trim() === '' || /^[#;]/.test(line)) continue
    const [, head] = /^\[(\w+)\]$/.exec(line) ?? []
    if (head !== undefined) {
      section = head
      continue
    }
    const [, name = '', value = ''] = /^(\w+)=(.*)$/.exec(line) ?? []
    const form = known[section]?.[name]
    if (form === undefined) throw new Error(`[${section}] has no such directive: ${line}`)
    if (form !== null && !form.test(value)) throw new Error(`not understood: ${line}`)
    found.push([name, value])
  }
  const all = (name: string) => found.filter(([own]) => own === name).map(([, value]) => value)
  return { all, one: (name) => all(name).at(-1) ?? '' }
}

/** A machine with a unit. `files`: what the operator has put there, by path. */
export function openUnit(text: string, files: Record<string, string> = {}) {
  const unit = parseUnit(text)
  const machine = newDirectory()
  const write = (path: string, content: string, mode: number) => {
    mkdirSync(dirname(join(machine, path)), { recursive: true })
    writeFileSync(join(machine, path), content, { mode })
  }
  for (const [path, content] of Object.entries(files)) write(path, content, 0o600)
  const command = program.map((part) => `'${part}'`).join(' ')
  write('/usr/local/bin/cuponera', `#!/bin/sh\nexec ${command} "$@"\n`, 0o755)
  const env = environmentOf(unit, machine)
  const [file = '', ...args] = unit.one('ExecStart').split(' ')
  let child: ReturnType<typeof launch> | null = null
  let output = ''
  let wanted = false
  const printed = () => /^ {2}management/m.test(output)
  const launch = () =>
    Bun.spawn([join(machine, file), ...args], { env, stdin: 'ignore', stderr: 'pipe' })

  async function supervise(): Promise<void> {
    while (wanted) {
      child = launch()
      output = ''
      const collect = async (stream: ReadableStream<Uint8Array>) => {
        const decoder = new TextDecoder()
        for await (const part of stream) output += decoder.decode(part, { stream: true })
      }
      await Promise.all([collect(child.stdout), collect(child.stderr), child.exited])
      const clean = child.exitCode === 0 || child.signalCode === 'SIGTERM'
      if (clean || unit.one('Restart') !== 'on-failure' || !printed()) wanted = false
    }
  }
  let supervised = Promise.resolve()
  const started = async () => {
    await until('the start is printed', () => !wanted || printed())
    if (!wanted) throw new Error(`the service ended: ${output}`)
    return (/^ {2}address +(\S+)$/m.exec(output)?.[1] ?? '').replace('0.0.0.0', '127.0.0.1')
  }
  return {
    machine,
    env,
    output: () => output,
    pid: () => child?.pid,
    /** Resolves to its address once it has started. */
    start(): Promise<string> {
      wanted = true
      supervised = supervise()
      return started()
    },
    /** Kill it as the kernel may; resolves to the address after the restart. */
    async kill(): Promise<string> {
      const died = child
      died?.kill('SIGKILL')
      await until('it has been started again', () => !wanted || child !== died)
      return started()
    },
    /** As `systemctl stop`; resolves to the exit code, null where it had to be killed. */
    async stop(): Promise<number | null> {
      const ended = child
      wanted = false
      ended?.kill('SIGTERM')
      const late = setTimeout(
        () => ended?.kill('SIGKILL'),
        Number(unit.one('TimeoutStopSec')) * 1000,
      )
      await supervised
      clearTimeout(late)
      return ended?.exitCode ?? null
    },
    /** For the end of a test. */
    async end(): Promise<void> {
      wanted = false
      child?.kill('SIGKILL')
      await supervised
    },
  }
}

/** Lay out what the unit names, and give its environment. Ports are free ones. */
function environmentOf(unit: Unit, machine: string): Record<string, string> {
  const credentials = join(machine, 'run/credentials')
  mkdirSync(credentials, { recursive: true })
  for (const credential of unit.all('LoadCredential')) {
    const [id = '', path = ''] = credential.split(':')
    copyFileSync(join(machine, path), join(credentials, id))
    chmodSync(join(credentials, id), 0o400)
  }
  const state = join(machine, 'var/lib', unit.one('StateDirectory'))
  mkdirSync(state, { recursive: true })
  chmodSync(state, Number.parseInt(unit.one('StateDirectoryMode'), 8))
  // Files count more than lines of the unit.
  const filed = unit
    .all('EnvironmentFile')
    .flatMap((path) => readFileSync(join(machine, path), 'utf8').trim().split('\n'))
  const pairs = [...unit.all('Environment').flatMap((line) => line.split(' ')), ...filed]
  const env = pairs.map((pair) => {
    const [name = '', ...rest] = pair.split('=')
    const value = rest.join('=')
    if (value.startsWith('%d/')) return [name, join(credentials, value.slice(3))]
    if (value.includes('%')) throw new Error(`not understood: ${pair}`)
    return [name, value.startsWith('/') ? join(machine, value) : value]
  })
  return { PATH: '/usr/bin:/bin', PORT: '0', ...Object.fromEntries(env) }
}
