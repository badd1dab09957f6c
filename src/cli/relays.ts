import type { Config } from '../app/config.ts'
import { inspect } from '../db/inspect.ts'
import { createOutboxStore } from '../gateway/outbox-store.ts'
import type { RelayStatus } from '../gateway/service.ts'
import { withDatabase } from './control.ts'

/** Print the state of each relay. Without a server, only the pending events in the database are known. */
export async function relays(config: Config): Promise<number> {
  const rows = await withDatabase(config, {
    async alone(database) {
      const pending = await inspect(database, (sql) => createOutboxStore(sql).waiting())
      const urls = [...new Set([...config.relays, ...pending.keys()])]
      console.log('no server is running: only pending events are known')
      return urls.map((url) => [url, String(pending.get(url) ?? 0)])
    },
    running: async (server) => (await server.ask<RelayStatus[]>('GET', 'relays')).map(describe),
  })
  const heads = ['relay', 'pending', 'connected since', 'delivered', 'refused', 'ms', 'last error']
  for (const line of table([heads.slice(0, rows[0]?.length), ...rows])) console.log(line)
  return 0
}

function describe(relay: RelayStatus): string[] {
  const { url, pending, connectedAt, delivered, refused, latency, lastError } = relay
  const since = connectedAt === null ? 'not connected' : isoTime(connectedAt)
  const counts = [String(delivered), String(refused), latency === null ? '-' : String(latency)]
  return [url, String(pending), since, ...counts, lastError ?? '-']
}

/** Unix seconds as RFC 3339 in UTC. */
export function isoTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace('.000', '')
}

/** Format rows as aligned columns. Control characters become spaces, because cells may hold untrusted text. */
export function table(texts: string[][]): string[] {
  const rows = texts.map((row) =>
    row.map((cell) => cell.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, ' ')),
  )
  const widths = rows[0]?.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0))) ?? []
  return rows.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}
