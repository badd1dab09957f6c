import { useEffect, useRef } from 'preact/hooks'
import { Route, type Shown } from './prose.tsx'
import { type Found, namesWith, search } from './search.ts'
import { index, query, say } from './state.ts'

/** The field of the search. The slash key leads to it, Escape empties it. */
export function SearchField() {
  const t = say.value
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const typing = event.target instanceof HTMLInputElement
      if (event.key !== '/' || typing || event.ctrlKey || event.metaKey) return
      event.preventDefault()
      field.current?.focus()
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [])
  return (
    <search>
      <label class="search">
        <span>{t('search')}</span>
        <input
          ref={field}
          class="input"
          type="search"
          autocomplete="off"
          spellcheck={false}
          title={t('search.key')}
          value={query.value}
          onInput={({ currentTarget }) => {
            query.value = currentTarget.value
          }}
          onKeyDown={({ key }) => {
            if (key === 'Escape') query.value = ''
          }}
        />
      </label>
    </search>
  )
}

/** Operations that have the words, and where. */
export function FoundView({ shown }: { shown: Shown }) {
  const { say: t } = shown
  const found = search(index.value, query.value)
  const { codes, document: described } = shown.outline
  const named = (kind: 'code' | 'model', all: Iterable<string>) =>
    namesWith(all, query.value).map((name) => ({ kind, name }))
  const names = [
    ...named('code', codes.keys()),
    ...named('model', Object.keys(described.components.schemas)),
  ]
  return (
    <article>
      <h1>{t('search')}</h1>
      <p role="status">
        {found.length + names.length === 0 ? t('found.none') : t('operations', { n: found.length })}
      </p>
      <p class="hits">
        {names.slice(0, namesMax).map(({ kind, name }) => (
          <a key={name} href={`#${kind}-${name}`} onClick={leave}>
            {name}
          </a>
        ))}
      </p>
      <ul class="cards">
        {found.map((one) => (
          <FoundEntry key={one.entry.id} found={one} shown={shown} />
        ))}
      </ul>
    </article>
  )
}

/** The results end with a choice, also where the address is the chosen one already. */
function leave(): void {
  query.value = ''
}

/** Names shown, of all and of each operation: a search for one letter finds most of them. */
const namesMax = 8

function FoundEntry({ found: { entry, places }, shown }: { found: Found; shown: Shown }) {
  const { id, method, path, operation } = entry
  const names = places.filter(({ kind }) => !['path', 'summary', 'text'].includes(kind))
  return (
    <li>
      <a class="card" href={`#${id}`} onClick={leave}>
        <Route method={method} path={path} />
        <br />
        {operation.summary}
        {names.length > 0 && (
          <span class="hits">
            {names.slice(0, namesMax).map(({ kind, name }) => (
              <span key={`${kind} ${name}`} class="hit">
                {shown.say(`kind.${kind}`)} <code>{name}</code>
              </span>
            ))}
            {names.length > namesMax && <span class="hit">…</span>}
          </span>
        )}
      </a>
    </li>
  )
}
