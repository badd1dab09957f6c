/** @jsxImportSource preact */
import { type Code, type Entry, modelNameOf, type Outline } from './outline.ts'
import { ChapterTitle, ItemTitle, Prose, Route, type Shown } from './prose.tsx'
import { SchemaView } from './schema-view.tsx'

type Props = { shown: Shown }

/** The beginning: what the document is about, and its groups. */
export function StartView({ shown }: Props) {
  const { outline, say } = shown
  const { info } = outline.document
  return (
    <article id="start">
      <h1>{say('title')}</h1>
      <p>{say('intro')}</p>
      <p>
        <Prose text={info.description} outline={outline} />
      </p>
      <p>
        {say('version', { version: info.version })} {say('programs')}{' '}
        <a href="/openapi.json">openapi.json</a>
      </p>
      {!shown.onePage && (
        <p>
          <a href="/openapi.html">{say('one-page')}</a>
        </p>
      )}
      <h2>{say('groups')}</h2>
      <ul class="cards">
        {outline.groups.map(({ name, title, description, entries }) => (
          <li key={name}>
            <a class="card" href={`#group-${name}`}>
              <b>{title}</b> <span class="soft">{say('operations', { n: entries.length })}</span>
              <br />
              {description}
            </a>
          </li>
        ))}
      </ul>
    </article>
  )
}

export function AuthenticationView({ shown }: Props) {
  const { outline, say } = shown
  return (
    <article id="authentication">
      <ChapterTitle shown={shown}>{say('authentication')}</ChapterTitle>
      {Object.entries(outline.document.components.securitySchemes).map(
        ([name, { description }]) => (
          <section key={name}>
            <p>
              <b>{name === 'nostr' ? 'Nostr (NIP-98)' : 'Bearer'}</b>:{' '}
              <Prose text={description} outline={outline} />
            </p>
          </section>
        ),
      )}
    </article>
  )
}

type GroupProps = { name: string; shown: Shown }

export function GroupView({ name, shown }: GroupProps) {
  const group = shown.outline.groups.find((one) => one.name === name)
  if (!group) return null
  return (
    <article id={`group-${name}`}>
      <h1>{group.title}</h1>
      <p>
        <Prose text={group.description} outline={shown.outline} />
      </p>
      <Entries entries={group.entries} shown={shown} />
    </article>
  )
}

/** Operations by route and summary. */
function Entries({ entries, shown }: { entries: readonly Entry[]; shown: Shown }) {
  return (
    <ul class="cards">
      {entries.map(({ id, method, path, operation }) => (
        <li key={id}>
          <a class="card" href={`#${id}`}>
            <Route method={method} path={path} />
            <br />
            <Prose text={operation.summary.replaceAll('`', '')} outline={shown.outline} />
          </a>
        </li>
      ))}
    </ul>
  )
}

export function ModelsView({ shown }: Props) {
  const { outline, say } = shown
  return (
    <article id="models">
      <h1>{say('models')}</h1>
      <ul class="cards">
        {Object.entries(outline.document.components.schemas).map(([name, { description }]) => (
          <li key={name}>
            <a class="card" href={`#model-${name}`}>
              <b>{name}</b>
              <br />
              {description?.replaceAll('`', '')}
            </a>
          </li>
        ))}
      </ul>
    </article>
  )
}

export function ModelView({ name, shown }: GroupProps) {
  const { outline, say } = shown
  const schema = outline.document.components.schemas[name]
  if (!schema) return null
  const users = [...outline.entries.values()].filter(({ operation }) =>
    mentions(operation, name, outline),
  )
  return (
    <article id={`model-${name}`}>
      <ItemTitle shown={shown}>{name}</ItemTitle>
      {schema.description && (
        <p>
          <Prose text={schema.description} outline={outline} />
        </p>
      )}
      <SchemaView schema={{ ...schema, description: '' }} shown={shown} around={[name]} />
      {!shown.onePage && users.length > 0 && (
        <>
          <h2>{say('model.used')}</h2>
          <Entries entries={users} shown={shown} />
        </>
      )}
    </article>
  )
}

/** Whether a part of the document refers to a model, also through other models. */
function mentions(
  part: unknown,
  name: string,
  outline: Outline,
  seen = new Set<string>(),
): boolean {
  if (typeof part !== 'object' || part === null) return false
  const model = modelNameOf(part)
  if (model === name) return true
  if (model !== null && !seen.has(model)) {
    seen.add(model)
    if (mentions(outline.document.components.schemas[model], name, outline, seen)) return true
  }
  return Object.values(part).some((one) => mentions(one, name, outline, seen))
}

export function CodesView({ shown }: Props) {
  const { outline, say } = shown
  return (
    <article id="codes">
      <ChapterTitle shown={shown}>{say('codes')}</ChapterTitle>
      <p>{say('codes.intro')}</p>
      <ul class="codes">
        {[...outline.codes.values()].map((code) => (
          <li key={code.code} id={shown.onePage ? `code-${code.code}` : undefined}>
            <p>
              <b>{code.statuses}</b>{' '}
              {shown.onePage ? (
                <code>{code.code}</code>
              ) : (
                <a href={`#code-${code.code}`}>{code.code}</a>
              )}
            </p>
            <Meaning code={code} shown={shown} />
          </li>
        ))}
      </ul>
    </article>
  )
}

export function CodeView({ name, shown }: GroupProps) {
  const { outline, say } = shown
  const code = outline.codes.get(name)
  if (!code) return null
  return (
    <article id={`code-${name}`}>
      <h1>
        <code>{name}</code>
      </h1>
      <p>
        <b>{code.statuses}</b>
      </p>
      <Meaning code={code} shown={shown} />
      {Object.entries(outline.document.components.examples).map(
        ([example, { value }]) =>
          // Each envelope has its own: `gateway.rate-limited`.
          example.split('.').at(-1) === name && (
            <pre key={example}>
              <code>{JSON.stringify(value, null, 2)}</code>
            </pre>
          ),
      )}
      <h2>{say('code.used')}</h2>
      <Entries entries={code.entries} shown={shown} />
    </article>
  )
}

/** The meaning in the language of the page, where the sentence on the wire is in another; else that sentence. */
function Meaning({ code, shown }: { code: Code; shown: Shown }) {
  const sentence = <q lang="es-AR">{code.sentence}</q>
  if (code.meaning === undefined) return <p>{sentence}</p>
  return (
    <>
      <p>{code.meaning}</p>
      <p class="soft">
        {shown.say('sentence')} {sentence}
      </p>
    </>
  )
}
