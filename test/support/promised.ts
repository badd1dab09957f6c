import type { ApiDocument, Operation, Schema } from '../../src/http/openapi.ts'

/** A part of the interface on which clients rely, and its words, such as `GET /api/coupons answers 200` and its keys. */
export type Promised = Map<string, string[]>

/**
 * The promises of a document to clients: for each route its credentials (`takes`), the fields that it reads and those that
 * it needs, and the keys of each good answer with their types, such as `mints[].claimedAt!:integer,null`. `!` stands for a
 * key that is always there.
 */
export function promisesOf(document: ApiDocument): Promised {
  const found: Promised = new Map()
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      // Parameters of a path are positions: their names may change.
      const route = `${method.toUpperCase()} ${path.replace(/\{\w+\}/g, '{}')}`
      const { read, needed } = fieldsOf(operation, document)
      found.set(`${route} takes`, schemesOf(operation))
      found.set(`${route} reads`, read)
      found.set(`${route} needs`, needed)
      for (const [status, { content = {} }] of Object.entries(operation.responses)) {
        if (status >= '400') continue
        const { schema = {} } = content['application/json'] ?? {}
        found.set(`${route} answers ${status}`, wordsOf(keysOf(schema, document)))
      }
    }
  }
  return found
}

function schemesOf({ security }: Operation): string[] {
  return security.length === 0 ? ['nothing'] : security.flatMap((one) => Object.keys(one))
}

function fieldsOf({ parameters, requestBody }: Operation, document: ApiDocument) {
  const named = parameters.filter((one) => one.in !== 'path')
  const body = resolve(requestBody?.content['application/json']?.schema ?? {}, document)
  const needed = named.filter(({ required }) => required).map(({ name }) => name)
  return {
    read: [...named.map(({ name }) => name), ...Object.keys(body.properties ?? {})],
    needed: [...needed, ...(body.required ?? [])],
  }
}

/** A key below a schema, with a type of it. Null: it has another part of the schema. */
type Key = { key: string; always: boolean; type: string | null }

function keysOf(schema: Schema, document: ApiDocument, at = '', always = true): Key[] {
  const resolved = resolve(schema, document)
  const { properties = {}, required = [], items, anyOf = [], allOf = [] } = resolved
  const type = resolved.const === undefined ? (resolved.type ?? null) : typeof resolved.const
  const own = at === '' ? [] : [{ key: at, always, type }]
  const inner = Object.entries(properties).flatMap(([name, one]) =>
    keysOf(one, document, at === '' ? name : `${at}.${name}`, required.includes(name)),
  )
  const parts = [...anyOf, ...allOf].flatMap((one) => keysOf(one, document, at, always))
  return [...own, ...inner, ...(items ? keysOf(items, document, `${at}[]`, true) : []), ...parts]
}

function wordsOf(keys: Key[]): string[] {
  return [...Map.groupBy(keys, ({ key }) => key)].map(([key, found]) => {
    const types = new Set(found.flatMap(({ type }) => type ?? []))
    return `${key}${found.every(({ always }) => always) ? '!' : ''}:${[...types].sort().join()}`
  })
}

function resolve(schema: Schema, document: ApiDocument): Schema {
  const name = schema.$ref?.split('/').at(-1)
  return name === undefined ? schema : resolve(document.components.schemas[name] ?? {}, document)
}
