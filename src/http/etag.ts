import { createHash } from 'node:crypto'

/** The ETag of a text. */
export function etagOf(text: string): string {
  return `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`
}

/** Whether `If-None-Match` names the tag. A pattern that also splits at spaces would take quadratic time. */
export function isKnown(etag: string, header: string | null): boolean {
  return (header ?? '').split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag)
}
