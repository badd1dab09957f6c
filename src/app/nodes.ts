import { limits } from '../base/limits.ts'
import type { KnownNode, Nodes, OpenDatabase, Waiting } from '../db/database.ts'
import type { Metrics } from '../http/metrics.ts'
import type { ControlOptions } from './control.ts'
import type { Stores } from './stores.ts'

/** The nodes of a database, for the operator. */
export type NodesReport = Waiting & {
  /** The id of the node that tells it. */
  here: string
  nodes: KnownNode[]
}

/** True of a node that has given up or died. */
export function isSilent({ silentSeconds }: KnownNode): boolean {
  return silentSeconds > limits.nodeSilentSeconds
}

/** The command that lists the nodes. Its result is null where the database is a file. */
export function nodeCommands({ nodes }: OpenDatabase<Stores>): {
  commands: ControlOptions['commands']
} {
  return { commands: { 'POST /nodes': async () => (nodes ? reportOf(nodes) : null) } }
}

async function reportOf(nodes: Nodes): Promise<NodesReport> {
  const [known, waiting] = await Promise.all([nodes.list(), nodes.waiting()])
  return { ...waiting, here: nodes.id, nodes: known }
}

/** Register the metrics of a node on PostgreSQL. Each node has its own `/metrics`. */
export function showNodes(metrics: Metrics, nodes: Nodes): void {
  const show = (name: string, help: string, read: () => number | Promise<number>, total = false) =>
    metrics.show({ name: `cuponera_${name}`, help }, async () => [{ value: await read() }], total)
  show('nodes', 'Nodes on the database that were heard of in the last seconds', async () => {
    const known = await nodes.list()
    return known.filter((node) => !isSilent(node)).length
  })
  show('is_leader', '1 on the node that does the work that one node is enough for', () =>
    nodes.figures().leads ? 1 : 0,
  )
  show(
    'unfolded_counters',
    'Changes of counters that the leader has not summed up yet',
    async () => {
      const { unfolded } = await nodes.waiting()
      return unfolded
    },
  )
  show(
    'unread_changes',
    'News of other nodes that this node had not read at its last beat',
    async () => {
      const known = await nodes.list()
      return known.find(({ id }) => id === nodes.id)?.unread ?? 0
    },
  )
  show(
    'database_connections',
    'Connections to the database that operations and reads use at this moment',
    () => nodes.figures().connections,
  )
  show(
    'database_retries_total',
    'Operations that ran again: another one stopped them, or their connection ended',
    () => nodes.figures().retries,
    true,
  )
  show(
    'database_settlements_total',
    'Commits whose answer got lost; the database was asked for their fate',
    () => nodes.figures().settlements,
    true,
  )
  show(
    'database_clock_ahead_seconds',
    'Time that the clock of the database is ahead of that of this node',
    () => nodes.figures().clockAhead ?? 0,
  )
  show(
    'database_standby_lost',
    '1 while commits wait for a standby that is away, and writes are refused',
    () => (nodes.figures().standbyLost ? 1 : 0),
  )
  show(
    'database_standby_unwatched',
    '1 where the login may not see whether commits wait for a standby',
    () => (nodes.figures().standbyUnwatched ? 1 : 0),
  )
  show(
    'database_unreachable',
    '1 while the server of the database answers nothing, or takes no connection',
    () => (nodes.figures().unreachable ? 1 : 0),
  )
}
