import type { Schema } from '../../http/openapi.ts'
import { type Entry, modelNameOf, type Outline } from './outline.ts'

type Kind = 'path' | 'summary' | 'text' | 'parameter' | 'sent' | 'answered' | 'code'

/** A place where words were found: its kind, and the name there. */
type Place = { kind: Kind; name: string }

/** An operation that has every word, and the places that have one. */
export type Found = { entry: Entry; places: Place[] }

type Indexed = { entry: Entry; places: (Place & { folded: string })[] }

/** The words of every operation, ready to be searched. */
type Index = readonly Indexed[]

export function indexOf(outline: Outline): Index {
  return [...outline.entries.values()].map((entry) => {
    return {
      entry,
      places: placesOf(entry, outline).map((one) => ({ ...one, folded: fold(one.name) })),
    }
  })
}

function placesOf({ method, path, operation }: Entry, outline: Outline): Place[] {
  const { summary, description, parameters, requestBody, responses } = operation
  const named = (kind: Kind, names: Iterable<string>) =>
    [...names].map((name): Place => ({ kind, name }))
  const fields = (contents: (Record<string, { schema: Schema }> | undefined)[]) => {
    const names = new Set<string>()
    for (const content of contents) {
      for (const { schema } of Object.values(content ?? {}))
        addFields(schema, outline, names, new Set())
    }
    return names
  }
  const good = Object.entries(responses).filter(([status]) => status < '400')
  return [
    { kind: 'path', name: `${method} ${path}` },
    { kind: 'summary', name: summary },
    ...named('parameter', new Set(parameters.map(({ name }) => name))),
    ...named('sent', fields([requestBody?.content])),
    ...named('answered', fields(good.map(([, { content }]) => content))),
    ...named('code', new Set([...operation['x-refusals'], ...(operation['x-told'] ?? [])])),
    { kind: 'text', name: description },
  ]
}

/** The names of all fields of a schema, those of its models included. */
function addFields(schema: Schema, outline: Outline, names: Set<string>, seen: Set<string>): void {
  const model = modelNameOf(schema)
  if (model !== null) {
    if (seen.has(model)) return
    seen.add(model)
    const whole = outline.document.components.schemas[model]
    if (whole) addFields(whole, outline, names, seen)
  }
  const { properties = {}, items, anyOf = [], allOf = [], additionalProperties } = schema
  for (const [name, field] of Object.entries(properties)) {
    names.add(name)
    addFields(field, outline, names, seen)
  }
  const more = typeof additionalProperties === 'object' ? [additionalProperties] : []
  for (const part of [...(items ? [items] : []), ...anyOf, ...allOf, ...more]) {
    addFields(part, outline, names, seen)
  }
}

/** The names, of codes or of models, that have every word of `query`. */
export function namesWith(names: Iterable<string>, query: string): string[] {
  const words = wordsOf(query)
  return [...names].filter((name) => words.every((word) => fold(name).includes(word)))
}

function wordsOf(query: string): string[] {
  return fold(query).split(' ').filter(Boolean)
}

/** Operations with every word of `query`, the nearest first: by a name that is the word, by route, by the rest. */
export function search(index: Index, query: string): Found[] {
  const words = wordsOf(query)
  if (words.length === 0) return []
  const ranked = index.flatMap(({ entry, places }) => {
    const hits = words.map((word) => places.filter(({ folded }) => folded.includes(word)))
    if (hits.some((found) => found.length === 0)) return []
    const found = places.filter((place) => hits.some((some) => some.includes(place)))
    return [{ found: { entry, places: found }, rank: rankOf(found, words) }]
  })
  return ranked.sort((a, b) => a.rank - b.rank).map(({ found }) => found)
}

function rankOf(places: Indexed['places'], words: readonly string[]): number {
  if (places.some(({ folded }) => words.includes(folded))) return 0
  const kinds = places.map(({ kind }) => kind)
  if (kinds.includes('path')) return 1
  return kinds.includes('summary') ? 2 : 3
}

/** Lower case, without accents, one space between words. */
function fold(text: string): string {
  const plain = text.normalize('NFD').replace(/\p{Mn}/gu, '')
  return plain.toLowerCase().split(/\s/).filter(Boolean).join(' ')
}
