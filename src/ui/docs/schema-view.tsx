/** @jsxImportSource preact */
import type { Schema } from '../../http/openapi.ts'
import { boundsOf, modelNameOf, onlyOption, resolved } from './outline.ts'
import { Prose, type Shown } from './prose.tsx'
import type { Word } from './words.ts'

type Props = {
  schema: Schema
  shown: Shown
  /** Models around this one: none opens in itself. */
  around?: readonly string[]
}

/** A whole schema: its fields, its alternatives, or only its type. */
export function SchemaView({ schema, shown, around = [] }: Props) {
  const { outline } = shown
  const name = modelNameOf(schema.allOf?.[0] ?? schema)
  const whole = resolved(outline.document, schema)
  const inner = name === null ? around : [...around, name]
  return (
    <>
      {name !== null && (
        <p class="model">
          <a href={`#model-${name}`}>{name}</a>{' '}
          <Prose text={whole.description ?? ''} outline={outline} />
        </p>
      )}
      {hasFields(whole) ? (
        <Fields schema={whole} shown={shown} around={inner} />
      ) : (
        <p>
          <Type schema={whole} shown={shown} />{' '}
          {name === null && <Prose text={whole.description ?? ''} outline={outline} />}
        </p>
      )}
    </>
  )
}

type FieldProps = {
  name: string
  schema: Schema
  required: boolean
  shown: Shown
  around?: readonly string[]
  /** The place of a parameter. */
  place?: 'path' | 'query' | 'header'
}

/** A field: its name, its type, whether it is needed, its meaning, and the fields in it. */
export function Field({ name, schema, required, shown, around = [], place }: FieldProps) {
  const { outline, say } = shown
  const only = onlyOption(schema)
  const model = modelNameOf(only.items ?? only)
  const described =
    schema.description ?? only.description ?? resolved(outline.document, only).description ?? ''
  const bounds = [...boundsOf(schema), ...(only.items ? boundsOf(only.items) : [])]
  const words: Word[] = [
    ...(place ? [`in.${place}` as const] : []),
    required ? 'needed' : 'optional',
  ]
  return (
    <li>
      <p>
        <code class="field-name">{name}</code>{' '}
        <span class="type">
          <Type schema={schema} shown={shown} />
        </span>{' '}
        <span class={required ? 'need required' : 'need'}>
          {words.map((word) => say(word)).join(', ')}
        </span>
      </p>
      {described !== '' && (
        <p class="meaning">
          <Prose text={described} outline={outline} />
        </p>
      )}
      {bounds.length > 0 && (
        <p class="bounds">
          {bounds.map((bound) => (
            <code key={bound}>{bound}</code>
          ))}
        </p>
      )}
      {model === null ? (
        <Fields schema={only} shown={shown} around={around} />
      ) : (
        !shown.onePage &&
        !around.includes(model) &&
        hasFields(resolved(outline.document, only.items ?? only)) && (
          <details class="nested">
            <summary>{say('fields', { model })}</summary>
            <Fields
              schema={resolved(outline.document, only.items ?? only)}
              shown={shown}
              around={[...around, model]}
            />
          </details>
        )
      )}
    </li>
  )
}

/** The fields of an object or of the entries of a list, or the alternatives with fields. */
function Fields({ schema, shown, around }: Required<Props>) {
  const { say } = shown
  const { properties = {}, required = [], items, anyOf, additionalProperties } = schema
  const rows = Object.entries(properties)
  if (rows.length > 0 || typeof additionalProperties === 'object') {
    return (
      <ul class="fields">
        {rows.map(([name, field]) => (
          <Field
            key={name}
            name={name}
            schema={field}
            required={required.includes(name)}
            shown={shown}
            around={around}
          />
        ))}
        {typeof additionalProperties === 'object' && (
          <Field
            name={say('any-key')}
            schema={additionalProperties}
            required={false}
            shown={shown}
            around={around}
          />
        )}
      </ul>
    )
  }
  if (items) return <Fields schema={items} shown={shown} around={around} />
  const options = anyOf?.filter(hasFields) ?? []
  const [first] = options
  if (!first) return null
  if (options.length === 1) return <Fields schema={first} shown={shown} around={around} />
  return (
    <>
      <p class="one-of">{say('one-of')}</p>
      <ol class="options">
        {options.map((option, at) => (
          <li key={at}>
            <Fields schema={option} shown={shown} around={around} />
          </li>
        ))}
      </ol>
    </>
  )
}

function hasFields({ properties, items, anyOf, additionalProperties }: Schema): boolean {
  if (typeof additionalProperties === 'object') return true
  if (Object.keys(properties ?? {}).length > 0) return true
  return (items && hasFields(items)) || (anyOf?.some(hasFields) ?? false)
}

/** The type in a few words. */
function Type({ schema, shown }: { schema: Schema; shown: Shown }) {
  const { say } = shown
  const { anyOf, items, type, title, enum: values } = schema
  const model = modelNameOf(schema)
  if (model !== null) return <a href={`#model-${model}`}>{model}</a>
  if (schema.const !== undefined) return <code>{JSON.stringify(schema.const)}</code>
  const alternatives = values
    ? values.map((value) => <code key={String(value)}>{JSON.stringify(value)}</code>)
    : anyOf?.map((option, at) => <Type key={at} schema={option} shown={shown} />)
  if (alternatives) {
    return <>{alternatives.map((one, at) => [at > 0 && ` ${say('or')} `, one])}</>
  }
  if (items) {
    const [before, after] = say('list-of').split('{type}')
    return (
      <>
        {before}
        <Type schema={items} shown={shown} />
        {after}
      </>
    )
  }
  const known = type === undefined ? 'anything' : (`type.${type}` as Word)
  return <>{title ?? say(known)}</>
}
