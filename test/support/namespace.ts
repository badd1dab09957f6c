/** A network of a test's own: its processes on one side, servers on the other, and nothing between them while it is down. */
import { spawnSync } from 'node:child_process'

export type Namespace = {
  /** In front of a command, it runs on the other side. */
  enter: readonly string[]
  /** Addresses of the other side. */
  addresses: readonly [string, string]
  /** Lose every packet, in both directions. */
  drop(): void
  restore(): void
  close(): void
}

const [here, there, also] = ['10.213.0.1', '10.213.0.2', '10.213.0.3'] as const
/** No machine has it: packets to it are lost. */
const nobody = '02:00:00:00:00:01'

/** Run a program of this process again in a network of its own, which has no way out. */
export function inOwnNetwork(...command: string[]): number {
  // Before it starts: it looks for addresses once.
  const script = 'ip link set lo up && exec "$@"'
  const args = ['--net', 'sh', '-c', script, 'sh', ...command]
  return spawnSync('unshare', args, { stdio: 'inherit' }).status ?? 1
}

/** Open the other side. For a process in a network of its own, as root. */
export function openNamespace(): Namespace {
  const name = `cuponera-${process.pid}`
  const enter = ['ip', 'netns', 'exec', name]
  ip('netns', 'add', name)
  ip('link', 'add', 'near', 'type', 'veth', 'peer', 'name', 'far', 'netns', name)
  ip('addr', 'add', `${here}/29`, 'dev', 'near')
  ip('link', 'set', 'near', 'up')
  for (const address of [there, also]) ip('-n', name, 'addr', 'add', `${address}/29`, 'dev', 'far')
  ip('-n', name, 'link', 'set', 'lo', 'up')
  ip('-n', name, 'link', 'set', 'far', 'up')
  const neighbours = [
    ...[there, also].map((address) => [[], address, 'near'] as const),
    [['-n', name], here, 'far'] as const,
  ]
  return {
    enter,
    addresses: [there, also],
    drop() {
      for (const [side, address, device] of neighbours) {
        ip(
          ...side,
          'neigh',
          'replace',
          address,
          'lladdr',
          nobody,
          'dev',
          device,
          'nud',
          'permanent',
        )
      }
    },
    restore() {
      for (const [side, address, device] of neighbours) {
        ip(...side, 'neigh', 'del', address, 'dev', device)
      }
    },
    close: () => ip('netns', 'delete', name),
  }
}

function ip(...args: string[]): void {
  const done = spawnSync('ip', args, { encoding: 'utf8' })
  if (done.status !== 0) throw new Error(`ip ${args.join(' ')}: ${done.stderr}`)
}
