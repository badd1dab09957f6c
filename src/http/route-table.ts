import type { RouteDetail } from './document.ts'

/** What a path is in the table: its pattern, for metrics, and the methods it takes. */
type RouteMatch = { pattern: string; methods: readonly string[] }

type Route = { method: string; path: string; hooks: unknown }

/** Which methods a path takes. A static path wins over a pattern, with all its methods. */
export function createRouteTable(routes: readonly Route[]) {
  const statics = new Map<string, RouteMatch>()
  const patterns: { match: RouteMatch; segments: string[] }[] = []
  for (const [pattern, list] of Map.groupBy(routes, ({ path }) => trimmed(path))) {
    const methods = list.map(({ method }) => method)
    if (methods.includes('GET') && !list.some(acts)) methods.push('HEAD')
    const match = { pattern, methods: [...methods, 'OPTIONS'] }
    if (pattern.includes(':')) patterns.push({ match, segments: pattern.split('/') })
    else statics.set(pattern, match)
  }

  return {
    /** The route of a path, with or without its trailing slash, or null. */
    find(path: string): RouteMatch | null {
      const found = statics.get(trimmed(path))
      if (found) return found
      const asked = trimmed(path).split('/')
      return patterns.find(({ segments }) => fits(segments, asked))?.match ?? null
    },
  }
}

function acts({ hooks }: Route): boolean {
  return (hooks as { detail?: RouteDetail }).detail?.['x-acts'] === true
}

function fits(segments: readonly string[], asked: readonly string[]): boolean {
  if (segments.length !== asked.length) return false
  return segments.every((segment, at) =>
    segment.startsWith(':') ? names(asked[at]) : segment === asked[at],
  )
}

/** Elysia gives a handler null for a parameter that cannot be decoded: such a path names nothing. */
function names(segment: string | undefined): boolean {
  if (!segment?.includes('%')) return segment !== ''
  try {
    return decodeURIComponent(segment) !== ''
  } catch (cause) {
    if (cause instanceof URIError) return false
    throw cause
  }
}

function trimmed(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
}
