import { createHash, timingSafeEqual } from 'node:crypto'
import type { Origins } from './origin.ts'

/** True if a request from this peer may read `/metrics`. */
export type MetricsAccess = (request: Request, peer: string) => boolean

/** Clients on this machine may, and those that send METRICS_TOKEN as a Bearer token. `token` is null if there is none. */
export function createMetricsAccess(origins: Origins, token: string | null): MetricsAccess {
  const expected = token === null ? null : digest(token)
  return (request, peer) => {
    if (origins.local(request, peer)) return true
    const [, sent] = /^bearer +(\S+)$/i.exec(request.headers.get('authorization') ?? '') ?? []
    // Digests have one length, and their comparison does not show how much of the token is right.
    return expected !== null && sent !== undefined && timingSafeEqual(digest(sent), expected)
  }
}

function digest(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
