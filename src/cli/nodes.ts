import type { Config } from '../app/config.ts'
import { isSilent, type NodesReport } from '../app/nodes.ts'
import { limits } from '../base/limits.ts'
import type { KnownNode } from '../db/database.ts'
import { withDatabase } from './control.ts'
import { isoTime, table } from './relays.ts'

/** Print the nodes on the database of the running server, its leader, and the work that waits for that. */
export async function nodes(config: Config): Promise<number> {
  const report = await withDatabase<NodesReport | null>(config, {
    alone: async () => null,
    running: (server) => server.ask('POST', 'nodes', {}),
  })
  if (report === null) {
    console.log('the database is a file, which one node uses')
    return 0
  }
  const heads = ['node', 'role', 'version', 'schema', 'address', 'since', 'unread', 'last seen']
  for (const line of table([heads, ...report.nodes.map((node) => describe(node, report.here))])) {
    console.log(line)
  }
  for (const node of report.nodes) {
    // A row of a node that died says nothing about those that run.
    if (node.differing.length === 0 || isSilent(node)) continue
    console.log(`settings of ${node.name} that differ: ${node.differing.join(', ')}`)
  }
  const { unfolded } = report
  const more = unfolded >= limits.countedMax ? ' or more' : ''
  console.log(`changes of counters that the leader has not summed up: ${unfolded}${more}`)
  return 0
}

function describe(node: KnownNode, here: string): string[] {
  const { id, name, version, schema, address, leads, startedAt, unread, silentSeconds } = node
  const role = leads ? 'leader' : isSilent(node) ? 'silent' : '-'
  const seen = id === here ? 'this one' : `${Math.round(silentSeconds)} s ago`
  return [
    name,
    role,
    version,
    String(schema),
    address ?? '-',
    isoTime(startedAt),
    String(unread),
    seen,
  ]
}
