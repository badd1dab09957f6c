/**
 * A container without the network of its host, made of namespaces: the service runs in one of its
 * own, where `/run/.containerenv` says so, behind a gateway; clients ask from outside of it.
 */
import { join } from 'node:path'

/** The gateway of the container: where connections from the container's host itself come from. */
export const gateway = '172.30.0.1'
/** Another device, as the container sees it. */
export const neighbour = '172.30.0.9'

export type Ask = {
  path: string
  /** The client's address. */
  from: string
  /** The Host that it names, and signs for when it signs. */
  host: string
  signs?: boolean
  headers?: [name: string, value: string][]
}

type Visit = { statuses: number[]; errors: (string | null)[]; output: string }

const shape = `
set -e
mount -t tmpfs tmpfs /run
touch /run/.containerenv
ip link set lo up
ip link add outside type veth peer name inside
ip addr add ${gateway}/24 dev outside
ip addr add ${neighbour}/24 dev outside
ip link set outside up
mkfifo /run/ready
unshare -n sh -c 'echo up > /run/ready; exec sleep 60' &
read ready < /run/ready
ip link set inside netns $!
nsenter -t $! -n sh -c 'ip link set lo up && ip addr add 172.30.0.2/24 dev inside && ip link set inside up && ip route add default via ${gateway}'
trap "kill $!" EXIT
`

const run = (script: string, ...args: string[]) =>
  Bun.spawn(
    ['unshare', '--user', '--map-root-user', '--net', '--mount', 'sh', '-c', script, ...args],
    {
      env: { PATH: process.env.PATH },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    },
  )

/** Whether this system lets a user make such namespaces. */
export async function canContain(): Promise<boolean> {
  try {
    return (await run(shape).exited) === 0
  } catch {
    // No such program.
    return false
  }
}

/** Start the service in a container with these settings, and ask it one thing after the other. */
export async function visitContainer(env: Record<string, string>, asks: Ask[]): Promise<Visit> {
  const child = join(import.meta.dir, 'container-child.ts')
  const script = `${shape}\n"$0" "$1" "$!" "$2"`
  const visit = run(script, process.execPath, child, JSON.stringify({ env, asks }))
  const [text, errors] = await Promise.all([
    new Response(visit.stdout).text(),
    new Response(visit.stderr).text(),
  ])
  if ((await visit.exited) !== 0) throw new Error(`the container ended: ${errors}`)
  return JSON.parse(text)
}
