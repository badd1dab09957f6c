/** @jsxImportSource preact */
import type { VNode } from 'preact'
import type { Operation } from '../../http/openapi.ts'
import { type CurlNeed, curlOf } from './curl.ts'
import type { Entry } from './outline.ts'
import { ItemTitle, Paragraphs, PartTitle, Prose, Route, type Shown } from './prose.tsx'
import { Field, SchemaView } from './schema-view.tsx'

type Props = { entry: Entry; shown: Shown }

/** An operation: its words, its command, all that it takes and all that it answers. */
export function OperationView({ entry, shown }: Props) {
  const { id, method, path, operation } = entry
  const { outline, say } = shown
  const { parameters, requestBody, responses } = operation
  const good = Object.entries(responses).filter(([status]) => status < '400')
  return (
    <article class="operation" id={id}>
      <p class="route">
        <Route method={method} path={path} />
      </p>
      <ItemTitle shown={shown}>
        <Prose text={operation.summary} outline={outline} />
      </ItemTitle>
      <Paragraphs text={operation.description} outline={outline} />
      <p class="access">{accessOf(operation, shown)}</p>
      <PartTitle shown={shown}>{say('command')}</PartTitle>
      <Command entry={entry} shown={shown} />
      {parameters.length > 0 && (
        <>
          <PartTitle shown={shown}>{say('parameters')}</PartTitle>
          <ul class="fields">
            {parameters.map(({ name, in: place, required, description, schema }) => (
              <Field
                key={name}
                name={name}
                schema={{ ...schema, ...(description && { description }) }}
                required={required}
                place={place}
                shown={shown}
              />
            ))}
          </ul>
        </>
      )}
      {requestBody && (
        <>
          <PartTitle shown={shown}>{say('body')}</PartTitle>
          <Content content={requestBody.content} shown={shown} />
        </>
      )}
      {good.map(([status, { headers, content }]) => (
        <section key={status}>
          <PartTitle shown={shown}>{say('answer', { status })}</PartTitle>
          {headers && <Headers headers={headers} shown={shown} />}
          {content ? <Content content={content} shown={shown} /> : <p>{say('answer.empty')}</p>}
        </section>
      ))}
      <Refusals operation={operation} shown={shown} />
    </article>
  )
}

function accessOf({ security }: Operation, { say }: Shown): string {
  const schemes = security.flatMap((one) => Object.keys(one))
  if (schemes.length === 0) return say('access.none')
  const needed = security.every((one) => Object.keys(one).length > 0)
  const names = schemes.map((scheme) => (scheme === 'nostr' ? 'Nostr (NIP-98)' : 'Bearer'))
  return say(needed ? 'access.needed' : 'access.optional', {
    schemes: names.join(` ${say('or')} `),
  })
}

/** The command, and the variables and files that it needs. */
function Command({ entry, shown }: Props) {
  const { outline, say, origin, onCopy } = shown
  const { command, needs } = curlOf(entry, outline.document, origin)
  return (
    <div class="command">
      <pre>
        <code>{command}</code>
      </pre>
      {onCopy && (
        <button type="button" class="button plain" onClick={() => onCopy(command)}>
          {say('copy')}
        </button>
      )}
      {needs.length > 0 && (
        <>
          <p class="soft">{say('command.needs')}</p>
          <ul class="needs">
            {needs.map((need) => (
              <li key={need}>
                <p>
                  <code>{nameOf(need)}</code>:{' '}
                  <Prose text={say(`need.${need}`)} outline={outline} />
                </p>
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  )
}

/** A shell variable, but for the names of files. */
function nameOf(need: CurlNeed): string {
  return need.includes('.') ? need : `$${need}`
}

type ContentProps = {
  content: NonNullable<Operation['responses'][string]['content']>
  shown: Shown
}

/** Bodies by media type, each with its example. */
function Content({ content, shown }: ContentProps) {
  const { say } = shown
  return (
    <>
      {Object.entries(content).map(([media, { schema, example }]) => (
        <div key={media}>
          {media !== 'application/json' && (
            <p>
              <code>{media}</code>
            </p>
          )}
          <SchemaView schema={schema} shown={shown} />
          {example !== undefined && (
            <details class="example">
              <summary>{say('example')}</summary>
              <pre>
                <code>{JSON.stringify(example, null, 2)}</code>
              </pre>
            </details>
          )}
        </div>
      ))}
    </>
  )
}

type HeadersProps = {
  headers: NonNullable<Operation['responses'][string]['headers']>
  shown: Shown
}

function Headers({ headers, shown }: HeadersProps) {
  return (
    <ul class="fields">
      {Object.entries(headers).map(([name, { description, schema }]) => (
        <Field
          key={name}
          name={name}
          schema={{ ...schema, description }}
          required={false}
          place="header"
          shown={shown}
        />
      ))}
    </ul>
  )
}

/** Every code of the operation, in order of precedence; those of good answers after them. */
function Refusals({ operation, shown }: { operation: Operation; shown: Shown }) {
  const { say } = shown
  const { 'x-refusals': refusals, 'x-told': told, responses } = operation
  const refused = Object.entries(responses).filter(([status]) => status >= '400')
  const [first] = refused
  const schema = first?.[1].content?.['application/json']?.schema.allOf?.[0]
  const model = schema?.$ref?.split('/').at(-1)
  const headers = Object.assign({}, ...refused.map(([, answer]) => answer.headers ?? {}))
  return (
    <>
      {refusals.length > 0 && (
        <>
          <PartTitle shown={shown}>{say('refusals')}</PartTitle>
          <p>
            {say('refusals.order')}{' '}
            {model &&
              linked(say('refusals.model'), '{model}', <a href={`#model-${model}`}>{model}</a>)}
          </p>
          {Object.keys(headers).length > 0 && <Headers headers={headers} shown={shown} />}
          <Codes codes={refusals} statusOf={(code) => statusOf(code, refused)} shown={shown} />
        </>
      )}
      {told && (
        <>
          <PartTitle shown={shown}>{say('told')}</PartTitle>
          <Codes codes={told} statusOf={() => '200'} shown={shown} />
        </>
      )}
    </>
  )
}

/** A sentence with an element in place of its placeholder. */
function linked(sentence: string, place: string, element: VNode) {
  const [before, after] = sentence.split(place)
  return (
    <>
      {before}
      {element}
      {after}
    </>
  )
}

/** The status of a code in this operation: each of its refusals lists its codes. */
function statusOf(code: string, refused: [string, { description: string }][]): string {
  const found = refused.find(([, { description }]) => description.split(', ').includes(code))
  return found?.[0] ?? ''
}

type CodesProps = { codes: readonly string[]; statusOf: (code: string) => string; shown: Shown }

function Codes({ codes, statusOf: statusIn, shown }: CodesProps) {
  const { outline } = shown
  return (
    <ul class="codes">
      {codes.map((code) => {
        const { sentence, meaning } = outline.codes.get(code) ?? {}
        return (
          <li key={code}>
            <p>
              <b>{statusIn(code)}</b> <a href={`#code-${code}`}>{code}</a>
            </p>
            {!shown.onePage && (meaning ? <p>{meaning}</p> : <p lang="es-AR">{sentence}</p>)}
          </li>
        )
      })}
    </ul>
  )
}
