/** A machine with the stand-in for Docker, for tests of the pages. */
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Replacement, root, runBlock } from '../printed.ts'
import { program } from '../program.ts'
import { newDirectory } from '../server.ts'
import { until } from '../until.ts'
import { openContainers } from './containers.ts'

/** Blocks run in the directory of the project, with `docker` of this machine alone. */
export function openDocker() {
  const machine = newDirectory()
  const file = join(machine, 'docker')
  const main = join(import.meta.dir, 'main.ts')
  writeFileSync(file, `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`)
  chmodSync(file, 0o755)
  const env = {
    PATH: `${machine}:${process.env.PATH}`,
    DOCKER_MACHINE: machine,
    DOCKER_RUNNER: String(process.pid),
    DOCKER_PROGRAM: JSON.stringify(program),
  }
  const containers = openContainers(machine)
  const run = (block: string, ...replacements: Replacement[]) =>
    runBlock(block, { cwd: root, env }, replacements)
  const fieldOf = async (name: string, path: string) =>
    (await run(`docker inspect ${name} -f '{{.State.${path}}}'`)).trim()
  return {
    run,
    fieldOf,
    containers,
    /** Wait until the image's own check passes, and the start is printed. */
    async healthy(name: string): Promise<void> {
      const health = () => fieldOf(name, 'Health.Status')
      await until(`${name} is healthy`, async () => (await health()) === 'healthy')
      await until('its start is printed', () => /^ {2}management/m.test(containers.log(name)))
    },
    /** Where a port of the machine leads: an address of this machine, or null where nothing answers. */
    reached(name: string, port: string): string | null {
      const { image, ports, network, env: given } = containers.find(name)
      const settings: Record<string, string> = { TLS_PORT: '3443', ...image.env, ...given }
      const inside = network === 'host' ? port : ports[port]
      const what = inside === settings.PORT ? 'address' : 'https'
      if (what === 'https' && inside !== settings.TLS_PORT) return null
      const [, url] = new RegExp(`^  ${what} +(http\\S+)$`, 'm').exec(containers.log(name)) ?? []
      const everywhere = url?.includes('//0.0.0.0:') || network === 'host'
      return everywhere ? (url?.replace('0.0.0.0', '127.0.0.1') ?? null) : null
    },
    end: () => containers.end(),
  }
}
