import type { ApiDocument, Operation, Schema } from '../../http/openapi.ts'

export type Language = 'es' | 'en'

/** An operation with its place in the document. */
export type Entry = { id: string; method: string; path: string; operation: Operation }

type Group = { name: string; title: string; description: string; entries: Entry[] }

/** A code: its statuses, its sentence on the wire, its meaning in English, and the operations that give it. */
export type Code = {
  code: string
  statuses: string
  sentence: string
  /** Absent where the sentence is in the language of the page. */
  meaning?: string
  entries: Entry[]
}

export type Outline = {
  document: ApiDocument
  groups: Group[]
  entries: ReadonlyMap<string, Entry>
  /** In alphabetical order. */
  codes: ReadonlyMap<string, Code>
}

/** The document in the order and with the look-ups that its views need. */
export function outlineOf(document: ApiDocument): Outline {
  const all = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): Entry => {
      return { id: operation.operationId, method: method.toUpperCase(), path, operation }
    }),
  )
  const groups = document.tags.map(({ name, 'x-displayName': title = name, description }) => {
    const entries = all.filter(({ operation }) => operation.tags.includes(name))
    return { name, title, description, entries }
  })
  return {
    document,
    groups,
    entries: new Map(all.map((entry) => [entry.id, entry])),
    codes: codesOf(document, all),
  }
}

function codesOf(document: ApiDocument, entries: readonly Entry[]): Map<string, Code> {
  const codes = Object.entries(document['x-codes']).map(([code, words]): [string, Code] => {
    return [code, { code, ...words, entries: [] }]
  })
  const byCode = new Map(codes.sort(([a], [b]) => (a < b ? -1 : 1)))
  for (const entry of entries) {
    const { 'x-refusals': refusals, 'x-told': told = [] } = entry.operation
    for (const code of new Set([...refusals, ...told])) byCode.get(code)?.entries.push(entry)
  }
  return byCode
}

/** The model that a reference names, or null. */
export function modelNameOf({ $ref }: Schema): string | null {
  return $ref?.split('/').at(-1) ?? null
}

/** The schema without its reference. An answer that lists its codes is its model with a narrower field. */
export function resolved({ components }: ApiDocument, schema: Schema): Schema {
  const whole = schema.allOf?.[0] ?? schema
  const name = modelNameOf(whole)
  return name === null ? whole : (components.schemas[name] ?? whole)
}

/** The form of a value in a few words of JSON Schema: bounds and patterns. */
export function boundsOf(schema: Schema): string[] {
  const bounds = onlyOption(schema)
  const { pattern, format, exclusiveMinimum, default: byDefault } = bounds
  const between = (low: number | undefined, high: number | undefined, name: string) =>
    low === undefined && high === undefined
      ? []
      : [[low, name, high].filter((part) => part !== undefined).join(' ≤ ')]
  return [
    ...(format === undefined ? [] : [format]),
    ...between(bounds.minLength, bounds.maxLength, 'length'),
    ...between(bounds.minItems, bounds.maxItems, 'items'),
    ...between(bounds.minimum, bounds.maximum, 'value'),
    ...(exclusiveMinimum === undefined ? [] : [`${exclusiveMinimum} < value`]),
    ...(byDefault === undefined ? [] : [`default ${JSON.stringify(byDefault)}`]),
    ...(pattern === undefined ? [] : [pattern]),
  ]
}

/** The schema, or the one alternative of it that is not null. */
export function onlyOption(schema: Schema): Schema {
  const options = schema.anyOf?.filter(({ type }) => type !== 'null') ?? []
  const [only] = options
  return options.length === 1 && only ? only : schema
}
