import { createHash, timingSafeEqual } from 'node:crypto'
import type { Origins } from './origin.ts'

/** Whether a request from this peer may read `/metrics`. */
export type MetricsAccess = (request: Request, peer: string) => boolean

/** Open to clients on this machine, and to who sends METRICS_TOKEN as a Bearer token; `token` null: none does. */
export function createMetricsAccess(origins: Origins, token: string | null): MetricsAccess {
  const expected = token === null ? null : digest(token)
  return (request, peer) => {
    if (origins.local(request, peer)) return true
    const [, sent] = /^bearer +(\S+)$/i.exec(request.headers.get('authorization') ?? '') ?? []
    // Digests are of one length, and tell how much of the token is right to nobody.
    return expected !== null && sent !== undefined && timingSafeEqual(digest(sent), expected)
  }
}

function digest(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
