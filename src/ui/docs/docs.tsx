import { effect } from '@preact/signals'
import { render } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { copyText } from '../browser/clipboard.ts'
import { language } from '../browser/language.ts'
import { Icon } from '../parts/icon.tsx'
import { Preferences } from '../parts/preferences.tsx'
import { Toasts, say as toast } from '../parts/toast.tsx'
import {
  AuthenticationView,
  CodesView,
  CodeView,
  GroupView,
  ModelsView,
  ModelView,
  StartView,
} from './chapter-views.tsx'
import { Nav } from './nav.tsx'
import { OperationView } from './operation-view.tsx'
import type { Shown } from './prose.tsx'
import { FoundView, SearchField } from './search-view.tsx'
import { failed, follow, load, outline, place, query, say } from './state.ts'

function Page() {
  const t = say.value
  const main = useRef<HTMLElement>(null)
  return (
    <>
      {/* No link to the content: the fragment names a view. */}
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        {t('skip')}
      </button>
      <header class="top">
        <div class="top-inner">
          <div class="titled">
            <a class="brand" href="#start">
              <Icon name="ticket" size={26} />
              <span class="brand-names">
                <span class="brand-name">{t('title')}</span>
              </span>
            </a>
            <Toasts />
          </div>
          <Preferences words={{ language: t('language'), dark: t('dark'), light: t('light') }} />
        </div>
      </header>
      <div class="docs">
        <div class="side">
          <SearchField />
          <Nav />
        </div>
        <main ref={main} id="main" tabIndex={-1}>
          <Content />
        </main>
      </div>
    </>
  )
}

function Content() {
  const t = say.value
  const known = outline.value
  if (failed.value) {
    return (
      <article>
        <h1>{t('title')}</h1>
        <p role="alert">{t('failed')}</p>
        <button type="button" class="button primary" onClick={() => void load(language.value)}>
          {t('retry')}
        </button>
      </article>
    )
  }
  if (!known) {
    return (
      <article>
        <h1>{t('title')}</h1>
        <p role="status">{t('loading')}</p>
      </article>
    )
  }
  const onCopy = async (text: string) => {
    const copied = await copyText(text)
    toast(t(copied ? 'copied' : 'uncopied'), copied ? 'good' : 'wait')
  }
  const shown: Shown = {
    outline: known,
    say: t,
    origin: location.origin,
    onePage: false,
    onCopy: (text) => void onCopy(text),
  }
  return query.value.trim() === '' ? <View shown={shown} /> : <FoundView shown={shown} />
}

/** The view of the address. A reader of the screen learns of a new one by its heading. */
function View({ shown }: { shown: Shown }) {
  const now = place.value
  const first = useRef(true)
  useEffect(() => {
    document.title = titleOf(now, shown)
    // The first view keeps the focus where the browser has it.
    if (first.current) {
      first.current = false
      return
    }
    const heading = document.querySelector<HTMLElement>('main h1')
    if (heading) heading.tabIndex = -1
    heading?.focus({ preventScroll: true })
    window.scrollTo(0, 0)
  }, [now, shown.say])
  const [kind = '', ...rest] = now.split('-')
  const name = rest.join('-')
  const entry = shown.outline.entries.get(now)
  if (entry) return <OperationView key={now} entry={entry} shown={shown} />
  const isModel = name in shown.outline.document.components.schemas
  if (kind === 'model' && isModel) return <ModelView key={now} name={name} shown={shown} />
  if (kind === 'code' && shown.outline.codes.has(name))
    return <CodeView name={name} shown={shown} />
  const isGroup = shown.outline.groups.some((group) => group.name === name)
  if (kind === 'group' && isGroup) return <GroupView name={name} shown={shown} />
  if (now === 'authentication') return <AuthenticationView shown={shown} />
  if (now === 'models') return <ModelsView shown={shown} />
  if (now === 'codes') return <CodesView shown={shown} />
  return <StartView shown={shown} />
}

function titleOf(now: string, { outline: known, say: t }: Shown): string {
  const entry = known.entries.get(now)
  const name = entry ? `${entry.method} ${entry.path}` : now.split('-').slice(1).join('-')
  return name === '' ? `Cuponera · ${t('title')}` : `${name} · Cuponera`
}

follow()
effect(() => {
  if (!outline.value) document.title = `Cuponera · ${say.value('title')}`
})
const app = document.getElementById('app')
if (app) render(<Page />, app)
