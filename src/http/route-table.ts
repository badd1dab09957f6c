import assert from 'node:assert/strict'
import { limits } from '../base/limits.ts'
import { type Envelope, serviceEnvelope } from './envelope.ts'
import type { RouteDetail, RouteRules } from './route.ts'

/** A path of the table: its pattern, its methods, and the rules of each method. */
export type RouteMatch = {
  pattern: string
  methods: readonly string[]
  envelope: Envelope
  /** A HEAD is answered by the route of GET. */
  rulesOf(method: string): RouteRules
}

type Route = { method: string; path: string; hooks: unknown }

/** The rules of routes without a declaration, as benchmarks have them. */
const undeclared: RouteRules = {
  schemes: null,
  bodyBytesMax: limits.bodyBytesMax,
  carrier: null,
  guesses: [],
  holds: [],
  supervision: null,
  whileDraining: false,
  upgrades: false,
  acts: false,
}

/** Paths with their methods and their rules. A static path wins over a pattern, with all its methods. */
export function createRouteTable(routes: readonly Route[]) {
  const statics = new Map<string, RouteMatch>()
  const patterns: { match: RouteMatch; segments: string[] }[] = []
  for (const [pattern, list] of Map.groupBy(routes, ({ path }) => trimmed(path))) {
    const match = matchOf(pattern, list)
    if (pattern.includes(':')) patterns.push({ match, segments: pattern.split('/') })
    else statics.set(pattern, match)
  }
  const envelopes = routes.flatMap(({ hooks }) => {
    const { paths = [], envelope = serviceEnvelope } = detailOf(hooks)?.['x-feature'] ?? {}
    return paths.map((path) => [path, envelope] as const)
  })

  return {
    /** The route of a path, with or without its trailing slash, or null. */
    find(path: string): RouteMatch | null {
      const found = statics.get(trimmed(path))
      if (found) return found
      const asked = trimmed(path).split('/')
      return patterns.find(({ segments }) => fits(segments, asked))?.match ?? null
    },

    /** The envelope of a path without a route. It is that of the feature whose path it is. */
    envelopeOf(path: string): Envelope {
      const found = envelopes.find(([own]) => path === own || path.startsWith(`${own}/`))
      return found?.[1] ?? serviceEnvelope
    },
  }
}

function matchOf(pattern: string, routes: readonly Route[]): RouteMatch {
  const rules = new Map(
    routes.map(({ method, hooks }) => [method, detailOf(hooks)?.['x-rules'] ?? undeclared]),
  )
  const envelopes = routes.map(({ hooks }) => detailOf(hooks)?.['x-feature']?.envelope)
  const [envelope] = envelopes
  assert(envelopes.every((other) => other === envelope))
  const methods = [...rules.keys()]
  if (rules.has('GET') && ![...rules.values()].some(({ acts }) => acts)) methods.push('HEAD')
  return {
    pattern,
    methods: [...methods, 'OPTIONS'],
    envelope: envelope ?? serviceEnvelope,
    rulesOf: (method) => rules.get(method === 'HEAD' ? 'GET' : method) ?? undeclared,
  }
}

function detailOf(hooks: unknown): RouteDetail | undefined {
  return (hooks as { detail?: RouteDetail }).detail
}

function fits(segments: readonly string[], asked: readonly string[]): boolean {
  if (segments.length !== asked.length) return false
  return segments.every((segment, at) =>
    segment.startsWith(':') ? names(asked[at]) : segment === asked[at],
  )
}

/** False for a parameter that cannot be decoded. Elysia would call the handler with null. */
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
