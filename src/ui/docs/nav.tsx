import { useSignal } from '@preact/signals'
import { Icon } from '../parts/icon.tsx'
import type { Entry } from './outline.ts'
import { search } from './search.ts'
import { index, outline, place, query, say } from './state.ts'

/** Groups and their operations. On a small screen it opens below its button; a search leaves what it found. */
export function Nav() {
  const t = say.value
  const open = useSignal(false)
  const known = outline.value
  const found = query.value.trim() === '' ? null : search(index.value, query.value)
  const kept = found && new Set(found.map(({ entry }) => entry.id))
  const link = (target: string, text: string) => (
    <a
      class="nav-link"
      href={`#${target}`}
      aria-current={place.value === target ? 'page' : undefined}
      onClick={() => {
        open.value = false
      }}
    >
      {text}
    </a>
  )
  return (
    <>
      <button
        type="button"
        class="button plain wide menu-button"
        aria-expanded={open.value}
        aria-controls="nav"
        onClick={() => {
          open.value = !open.value
        }}
      >
        <Icon name="list" />
        {t('menu')}
      </button>
      <nav id="nav" class={open.value ? 'nav open' : 'nav'} aria-label={t('menu')}>
        <ul>
          <li>{link('start', t('start'))}</li>
          <li>{link('authentication', t('authentication'))}</li>
          {known?.groups.map(({ name, title, entries }) => {
            const listed = kept ? entries.filter(({ id }) => kept.has(id)) : entries
            if (listed.length === 0) return null
            const here =
              entries.some(({ id }) => id === place.value) || place.value === `group-${name}`
            return (
              <li key={name}>
                <details open={here || kept !== null}>
                  <summary>{title}</summary>
                  <ul>
                    {listed.map((entry) => (
                      <li key={entry.id}>
                        <EntryLink
                          entry={entry}
                          onChoose={() => {
                            open.value = false
                          }}
                        />
                      </li>
                    ))}
                  </ul>
                </details>
              </li>
            )
          })}
          <li>{link('models', t('models'))}</li>
          <li>{link('codes', t('codes'))}</li>
        </ul>
      </nav>
    </>
  )
}

function EntryLink({ entry, onChoose }: { entry: Entry; onChoose: () => void }) {
  const { id, method, path, operation } = entry
  return (
    <a
      class="nav-link entry"
      href={`#${id}`}
      title={operation.summary}
      aria-current={place.value === id ? 'page' : undefined}
      onClick={onChoose}
    >
      <span class={`method ${method.toLowerCase()}`}>{method}</span>{' '}
      <span class="path">{path}</span>
    </a>
  )
}
