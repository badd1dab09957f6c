import { createHash } from 'node:crypto'

/**
 * Headers of a page whose only resource is its own style: no script, no frame, no request. `sources`: further
 * directives of the policy, such as `img-src data:`.
 */
export function staticPageHeaders(style: string, ...sources: string[]): Record<string, string> {
  const hash = createHash('sha256').update(style).digest('base64')
  const policy = [
    "default-src 'none'",
    ...sources,
    `style-src 'sha256-${hash}'`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ]
  return {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': policy.join('; '),
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
  }
}
