/** The types of the published client, from the OpenAPI document. */
import { reads } from '../../src/client/effect.ts'
import type { ApiDocument, Operation, Schema } from '../../src/http/openapi.ts'

/** Schemas as this document has them, beyond those that the service itself looks into. */
type Part = Schema & {
  additionalProperties?: boolean | Part
}

/** An operation whose answers are JSON or empty. */
type Described = { name: string; path: string; operation: Operation }

/** The files by the paths of their operations. A model that two files need is in the first. */
const rooms: Record<string, RegExp> = {
  vouchers: /^\/api\/(auth\/|coupons\/(manager|preview|claim|refresh)$)/,
  lists: /^\/api\/coupons\/(stats|redemptions|\{id\}\/(mints|batches))/,
  coupons: /^\/api\/coupons/,
  wallet:
    /^\/(nostr\/|\.well-known\/|api\/(wallet|ledger|transfer|lud16|pubkey|nonce|identity|signup))/,
  cards: /^\/(card|ntag424)/,
  shop: /^\//,
}

const head = '// Written by `npm run client-types` from the OpenAPI document.\n\n'

/** The text of each file, by its name, without its final form. */
export function describeTypes(document: ApiDocument): Record<string, string> {
  const operations = operationsOf(document)
  const { schemas } = document.components
  const homes = findHomes(operations, schemas)
  const files = Object.keys(rooms).map((room) => {
    const models = Object.entries(schemas).filter(([name]) => homes.get(name) === room)
    const types = models.map(([name, schema]) => {
      return `${comment(schema)}export type ${name} = ${typeOf(schema)}\n`
    })
    const here = operations.filter(({ path }) => roomOf(path) === room)
    const calls = here.map(({ name, operation }) => {
      return `${sentence(operation.summary)}'${name}': ${callOf(operation)}\n`
    })
    const text = `${types.join('\n')}
      export type ${operationsIn(room)} = {\n${calls.join('')}}\n`
    return [`${room}.ts`, `${head}${importsOf(text, room, homes)}${text}`]
  })
  const answers = operations.map(({ name, operation }) => {
    return `'${name}': ${JSON.stringify([accessOf(operation), ...formsOf(operation, schemas)])},`
  })
  const [keyed = [], unkeyed = []] = [true, false].map((withKey) =>
    operations.flatMap(({ name, operation }) =>
      isJudged(name) && (keyOf(operation) !== undefined) === withKey
        ? [`'${name}': ${JSON.stringify(finalCodes(operation))},`]
        : [],
    ),
  )
  const codes = schemas.Refusal?.properties?.code?.enum ?? []
  return {
    ...Object.fromEntries(files),
    'operations.ts': operationsFile(),
    'codes.ts': `${head}/** Every code of a refusal (docs/api/errors.md). */
      export type RefusalCode = ${codes.map(quoted).toSorted(byText).join(' | ')}\n`,
    'facts.ts': `${head}import type { RefusalCode } from './codes.ts'
      import type { Operations } from './operations.ts'

      /**
       * Credentials that each operation takes, and the forms of its answer (\`fits\`), which tell it from any other.
       * An optional session names the caller.
       */
      export const facts: {
        readonly [name in keyof Operations]: readonly [
          credentials: 'session' | 'optional' | 'signature' | 'none',
          ...forms: string[],
        ]
      } = {\n${answers.join('\n')}\n}

      /** The operations that take an Idempotency-Key, and the refusals that end them, credentials aside. */
      export const keyed: { readonly [name in keyof Operations]?: readonly RefusalCode[] } = {
        ${keyed.join('\n')}
}\n`,
    'unkeyed.ts': `${head}import type { RefusalCode } from './codes.ts'
      import type { Operations } from './operations.ts'

      /** The other operations that have an effect, and the preview, with their refusals. */
      export const unkeyed: { readonly [name in keyof Operations]?: readonly RefusalCode[] } = {
        ${unkeyed.join('\n')}
}\n`,
  }
}

/** Whether a refusal counts with a code of the operation only. A gateway has codes, too. */
function isJudged(name: string): boolean {
  return !reads(name) || name === 'POST /api/coupons/preview'
}

/** The operations of all files together, and the types that they share. */
function operationsFile(): string {
  const names = Object.keys(rooms).map((room) => [room, operationsIn(room)] as const)
  const imports = names.map(([room, type]) => `import type { ${type} } from './${room}.ts'\n`)
  return `${head}${imports.toSorted(byText).join('')}
    /** Input and answer by method and path, such as \`POST /api/coupons/claim\`. */
    export type Operations = ${names.map(([, type]) => type).join(' & ')}

    export type OperationName = keyof Operations

    /** A value of a query. Null and undefined are left out. */
    export type Asked = string | number | null | undefined

    /**
     * \`once\`: your own name of this operation, whose Idempotency-Key the client keeps. \`key\`: one that you
     * keep.
     */
    export type Keyed = { once: string; key?: never } | { key: string; once?: never }

    export type MayBeKeyed = Keyed | { once?: never; key?: never }\n`
}

/** The name of the type with the operations of a file. */
function operationsIn(room: string): string {
  return `${room[0]?.toUpperCase()}${room.slice(1)}Operations`
}

function operationsOf({ paths }: ApiDocument): Described[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => {
      const answers = goodAnswers(operation)
      const media = answers.flatMap(({ content = {} }) => Object.keys(content))
      // Pages, pictures and streams have no type, and the document itself has every type.
      const typed = media.every((one) => one === 'application/json') && path !== '/openapi.json'
      const name = `${method.toUpperCase()} ${path}`
      return answers.length > 0 && typed && path !== '/' ? [{ name, path, operation }] : []
    }),
  )
}

function goodAnswers({ responses }: Pick<Operation, 'responses'>) {
  return Object.entries(responses).flatMap(([status, one]) => (status < '300' ? [one] : []))
}

function roomOf(path: string): string {
  return Object.entries(rooms).find(([, paths]) => paths.test(path))?.[0] ?? ''
}

/** The room of each model that an operation sends or answers with. */
function findHomes(operations: readonly Described[], schemas: Record<string, Part>) {
  const users = new Map<string, Set<string>>()
  const visit = (part: unknown, room: string) => {
    for (const [, name = ''] of JSON.stringify(part).matchAll(/#\/components\/schemas\/(\w+)/g)) {
      const known = users.get(name) ?? new Set()
      if (known.has(room)) continue
      users.set(name, known.add(room))
      visit(schemas[name], room)
    }
  }
  for (const { path, operation } of operations) {
    visit([operation.requestBody ?? null, goodAnswers(operation)], roomOf(path))
  }
  const [first = ''] = Object.keys(rooms)
  const homes = [...users].map(([name, found]) => {
    const [only = first] = found
    return [name, found.size === 1 ? only : first] as const
  })
  return new Map(homes)
}

function importsOf(text: string, room: string, homes: ReadonlyMap<string, string>): string {
  const names = new Set(text.replace(/\/\*\*.*\*\//g, '').match(/\b[A-Z]\w+\b/g))
  const foreign = [...homes].filter(([name, home]) => names.has(name) && home !== room)
  const others = ['Asked', 'Keyed', 'MayBeKeyed'].filter((name) => names.has(name))
  const from = [
    ...[...Map.groupBy(foreign, ([, home]) => home)].map(
      ([home, list]) => [list.map(([name]) => name).toSorted(byText), `./${home}.ts`] as const,
    ),
    ...(names.has('RefusalCode') ? [[['RefusalCode'], './codes.ts'] as const] : []),
    ...(others.length > 0 ? [[others, './operations.ts'] as const] : []),
  ]
  const lines = from.toSorted(([, a], [, b]) => (a < b ? -1 : 1))
  return lines
    .map(([list, path]) => `import type { ${list.join(', ')} } from '${path}'\n`)
    .join('')
    .replace(/$/, '\n')
}

function keyOf({ parameters }: Operation) {
  return parameters.find((one) => one.in === 'header' && one.name === 'Idempotency-Key')
}

/** The refusals of a request that was understood and judged: another attempt gets the same. */
function finalCodes({ responses }: Operation): string[] {
  const refusals = Object.entries(responses).filter(([status]) => /^4/.test(status))
  const final = refusals.filter(([status]) => !['401', '408', '429'].includes(status))
  return final.flatMap(([, { description }]) => description.split(', '))
}

function accessOf({ security }: Operation): 'session' | 'optional' | 'signature' | 'none' {
  const schemes = security.flatMap((one) => Object.keys(one))
  const optional = security.some((one) => Object.keys(one).length === 0)
  if (schemes.includes('bearer')) return optional ? 'optional' : 'session'
  return schemes.includes('nostr') ? 'signature' : 'none'
}

/**
 * The forms of the answers. A key is the nonce, or else the first that the answer always has, with its words where it
 * has few. Answers that differ by status are told with it.
 */
function formsOf({ responses }: Operation, schemas: Record<string, Part>): string[] {
  const answers = Object.entries(responses).filter(([status]) => status < '300')
  const forms = answers.map(([status, { content = {} }]) => {
    const [media] = Object.values(content)
    return { status, forms: media ? formsIn(media.schema, schemas) : [''] }
  })
  const [first] = forms
  const alike = forms.every((one) => one.forms.join() === first?.forms.join())
  if (alike && first?.forms.join() !== '') return first?.forms ?? []
  return forms.flatMap((one) => one.forms.map((form) => `${one.status} ${form}`.trim()))
}

function formsIn(part: Part, schemas: Record<string, Part>): string[] {
  const { $ref, anyOf, allOf, items, properties = {}, required = [] } = part
  if ($ref !== undefined)
    return formsIn(schemas[$ref.slice($ref.lastIndexOf('/') + 1)] ?? {}, schemas)
  if (items) return ['[]']
  if (required.includes('nonce') && required.includes('voucher')) return [voucherForm(properties)]
  const key = required.includes('nonce') ? 'nonce' : required[0]
  if (key !== undefined) return [`${key}${wordsOf(properties[key] ?? {})}`]
  const parts = allOf ? allOf.slice(0, 1) : (anyOf ?? [])
  return [...new Set(parts.flatMap((one) => formsIn(one, schemas)))]
}

/** An answer with a coupon is worth money: the JSON of another server has no nonce, outcome and signed voucher. */
function voucherForm({ status }: Record<string, Part>): string {
  return `nonce&${status ? `status${wordsOf(status)}&` : ''}voucher`
}

function wordsOf({ const: only, enum: words = only === undefined ? [] : [only] }: Part): string {
  return words.length > 0 && words.length <= wordsMax ? `=${words.join('|')}` : ''
}

function callOf({ parameters, requestBody, responses }: Operation): string {
  const named = (place: string) => parameters.filter((one) => one.in === place)
  const path = named('path').map(({ name }) => `${name}: string`)
  const query = named('query')
  const asked = query.map(({ name, required }) => `${name}${required ? '' : '?'}: Asked`)
  const optional = query.some(({ required }) => required) ? '' : '?'
  const key = keyOf({ parameters } as Operation)
  const sent = named('header').flatMap(({ name, required }) =>
    required && name !== 'Idempotency-Key' ? [`${quoted(name)}: string`] : [],
  )
  const fields = [
    ...(path.length > 0 ? [`path: { ${path.join('; ')} }`] : []),
    ...(asked.length > 0 ? [`query${optional}: { ${asked.join('; ')} }`] : []),
    ...(requestBody ? [`body: ${bodyOf(requestBody)}`] : []),
    ...(sent.length > 0 ? [`headers: { ${sent.join('; ')} }`] : []),
  ]
  const parts = [
    ...(fields.length > 0 ? [`{ ${fields.join('; ')} }`] : []),
    ...(key ? [key.required ? 'Keyed' : 'MayBeKeyed'] : []),
  ]
  const answers = goodAnswers({ responses }).map(({ content = {} }) => {
    const [first] = Object.values(content)
    return first ? typeOf(first.schema) : 'null'
  })
  const input = parts.length === 0 ? 'object' : parts.join(' & ')
  return `{ input: ${input}; answer: ${[...new Set(answers)].join(' | ')} }`
}

function bodyOf({ content }: NonNullable<Operation['requestBody']>): string {
  const json = content['application/json']
  return json ? typeOf(json.schema) : 'Blob'
}

/** A schema as TypeScript. */
function typeOf(schema: Part): string {
  const { $ref, anyOf, allOf, items, properties, additionalProperties: values } = schema
  if ($ref !== undefined) return $ref.slice($ref.lastIndexOf('/') + 1)
  if (schema.const !== undefined) return quoted(schema.const)
  if (schema.enum) return enumOf(schema.enum)
  if (anyOf) return anyOf.map((one) => braced(typeOf(one))).join(' | ')
  if (allOf) return allOf.map((one) => braced(typeOf(one))).join(' & ')
  if (items) return `${braced(typeOf(items))}[]`
  if (properties && Object.keys(properties).length > 0) return objectOf(schema)
  if (typeof values === 'object') return `Record<string, ${typeOf(values)}>`
  return plain[schema.type ?? ''] ?? 'unknown'
}

const plain: Record<string, string> = {
  integer: 'number',
  number: 'number',
  string: 'string',
  boolean: 'boolean',
  null: 'null',
  array: 'unknown[]',
  object: 'Record<string, unknown>',
}

/** More words than any list but that of all codes has. */
const wordsMax = 100

function enumOf(words: unknown[]): string {
  return words.length > wordsMax ? 'RefusalCode' : words.map(quoted).join(' | ')
}

function objectOf({ properties = {}, required = [], additionalProperties }: Part): string {
  const fields = Object.entries(properties).map(([name, field]) => {
    const key = /^\w+$/.test(name) ? name : quoted(name)
    return `${comment(field)}${key}${required.includes(name) ? '' : '?'}: ${typeOf(field)}`
  })
  // Other keys of a request are ignored, so that only a schema of them is worth a type.
  const rest = typeof additionalProperties === 'object' ? ['[other: string]: unknown'] : []
  return `{\n${[...fields, ...rest].join('\n')}\n}`
}

/** An alternative in parentheses, where it is itself one of several. */
function braced(type: string): string {
  return / [|&] /.test(type) && !type.startsWith('{') ? `(${type})` : type
}

function comment({ description }: Part): string {
  return description === undefined ? '' : sentence(description)
}

/** Without a noun at its beginning, a comment is read twice. */
function sentence(text: string): string {
  const said = text.replace(/^(what|whose|who)\b/i, (word) => `Says ${word.toLowerCase()}`)
  return `/** ${said.replaceAll('*/', '* /').replaceAll('\n', ' ')} */\n`
}

function byText(a: string, b: string): number {
  return a < b ? -1 : 1
}

function quoted(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : String(value)
}
