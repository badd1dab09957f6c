import type { ApiDocument, Schema } from './openapi.ts'

/**
 * A sentence, and where it has one the pattern, of fields by `name` or `Model.name`. The pattern of a parameter is at
 * `query.name`.
 */
export type FieldWords = {
  descriptions: Readonly<Record<string, string>>
  patterns: Readonly<Record<string, string>>
}

/** Describe every field of the document that has no words of its own, in place. */
export function explainFields({ paths, components }: ApiDocument, words: FieldWords): void {
  for (const [name, schema] of Object.entries(components.schemas)) {
    const description = words.descriptions[name]
    if (description !== undefined) schema.description ??= description
    setPattern(schema, words.patterns[name])
    explain(schema, name, words)
  }
  for (const operation of Object.values(paths).flatMap((methods) => Object.values(methods))) {
    for (const parameter of operation.parameters) {
      parameter.description ??= words.descriptions[parameter.name] ?? ''
      setPattern(parameter.schema, words.patterns[`${parameter.in}.${parameter.name}`])
    }
    const answers = Object.values(operation.responses).map(({ content = {} }) => content)
    for (const content of [operation.requestBody?.content ?? {}, ...answers]) {
      for (const { schema } of Object.values(content)) explain(schema, '', words)
    }
  }
}

function explain(schema: Schema, model: string, words: FieldWords): void {
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    const [own, shared] = [`${model}.${name}`, name]
    if (!described(field)) {
      const description = words.descriptions[own] ?? words.descriptions[shared]
      if (description !== undefined) field.description = description
    }
    setPattern(field, words.patterns[own] ?? words.patterns[shared])
    explain(field, model, words)
  }
  const { items, anyOf = [], allOf = [], additionalProperties: values } = schema
  for (const part of [items, values, ...anyOf, ...allOf]) {
    if (typeof part === 'object') explain(part, model, words)
  }
}

/** A nullable field may have its words on the alternative that is not null. A code has its list. */
function described({ description, anyOf, enum: words, type }: Schema): boolean {
  if (description !== undefined || (words && type === undefined)) return true
  return anyOf?.some((option) => option.description !== undefined) ?? false
}

function setPattern(field: Schema, pattern: string | undefined): void {
  if (pattern) for (const text of textsOf(field)) text.pattern ??= pattern
}

/** The field, or its alternatives, as far as they are free text. */
function textsOf(field: Schema): Schema[] {
  const options = field.anyOf ?? [field]
  return options.filter((one) => one.type === 'string' && !one.enum && one.const === undefined)
}
