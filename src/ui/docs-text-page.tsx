/** @jsxImportSource preact */
// The service renders this. Else Bun takes the settings of JSX from the folder in which it is started.
import { escapeHTML } from 'bun'
import type { ComponentChild, ComponentChildren, VNode } from 'preact'
import { nextTurn } from '../base/next-turn.ts'
import type { ApiDocument } from '../http/openapi.ts'
import { AuthenticationView, CodesView, ModelView, StartView } from './docs/chapter-views.tsx'
import { OperationView } from './docs/operation-view.tsx'
import { type Language, outlineOf } from './docs/outline.ts'
import { Prose, type Shown } from './docs/prose.tsx'
import { sayIn } from './docs/words.ts'
import { staticPageHeaders } from './static-page.ts'

/** All of the document on one page. It has no script, and loads nothing. */
export async function createDocsTextPage(document: ApiDocument, language: Language) {
  const outline = outlineOf(document)
  const say = sayIn(language)
  const shown: Shown = { outline, say, origin: '$URL', onePage: true }
  const body = (
    <main>
      <p>
        <a href={`/openapi.html?lang=${language === 'es' ? 'en' : 'es'}`}>{say('language')}</a>
      </p>
      <StartView shown={shown} />
      <AuthenticationView shown={shown} />
      {outline.groups.map(({ name, title, description, entries }) => (
        <section key={name} id={`group-${name}`}>
          <h2>{title}</h2>
          <p>
            <Prose text={description} outline={outline} />
          </p>
          {entries.map((entry) => (
            <OperationView key={entry.id} entry={entry} shown={shown} />
          ))}
        </section>
      ))}
      <section id="models">
        <h2>{say('models')}</h2>
        {Object.keys(document.components.schemas).map((name) => (
          <ModelView key={name} name={name} shown={shown} />
        ))}
      </section>
      <CodesView shown={shown} />
    </main>
  )
  const html = `<!doctype html>
<html lang="${language === 'es' ? 'es-AR' : 'en'}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Cuponera · ${escapeHTML(say('title'))}</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
${await htmlInParts(body)}
</body>
</html>
`
  return { html, headers: staticPageHeaders(style, 'img-src data:') }
}

const voids: ReadonlySet<string> = new Set(['br', 'wbr'])

/** The HTML of elements and of components without hooks, which is all that the views of the document are. */
function htmlOf(node: ComponentChildren): string {
  if (node === null || node === undefined || typeof node === 'boolean') return ''
  if (Array.isArray(node)) return node.map(htmlOf).join('')
  if (!isElement(node)) return escapeHTML(String(node))
  const { type, props } = node
  const { children, ...attributes } = props
  if (typeof type === 'function') return htmlOf((type as (props: unknown) => ComponentChild)(props))
  const inner = htmlOf(children)
  const open = `<${type}${attributesOf(attributes)}>`
  return voids.has(type) ? open : `${open}${inner}</${type}>`
}

/** The same, with a turn of the event loop between the parts of a section, so that others are served meanwhile. */
async function htmlInParts(node: ComponentChildren): Promise<string> {
  if (Array.isArray(node)) {
    const parts: string[] = []
    for (const one of node) parts.push(await htmlInParts(one))
    return parts.join('')
  }
  if (
    isElement(node as ComponentChild) &&
    ['main', 'section'].includes(String((node as Element).type))
  ) {
    const { type, props } = node as Element
    const { children, ...attributes } = props
    return `<${type}${attributesOf(attributes)}>${await htmlInParts(children)}</${type}>`
  }
  await nextTurn()
  return htmlOf(node)
}

function attributesOf(attributes: Record<string, unknown>): string {
  const written = Object.entries(attributes).flatMap(([name, value]) => {
    if (value === undefined || value === null || value === false) return []
    return [` ${name.toLowerCase()}="${escapeHTML(String(value))}"`]
  })
  return written.join('')
}

type Element = VNode<Record<string, unknown> & { children?: ComponentChildren }>

function isElement(node: ComponentChild): node is Element {
  return typeof node === 'object' && node !== null && 'type' in node && 'props' in node
}

const style = `
:root{color-scheme:light dark;--ink:#211d18;--soft:#625a4f;--paper:#faf7f2;--sunken:#f2ede4;--line:#e2dacd;--mark:#0d6650}
@media (prefers-color-scheme:dark){:root{--ink:#f0ebe3;--soft:#b5aca0;--paper:#161411;--sunken:#211e1a;--line:#38332c;--mark:#74d3b1}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:60rem;padding:1rem;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
a{color:var(--mark)}
:focus-visible{outline:2px solid var(--mark);outline-offset:2px}
h1,h2,h3{line-height:1.2}
h2{margin:2.5rem 0 .25rem}
h3,h4{margin:1rem 0 .25rem}
p{margin:.25rem 0 .5rem}
ul,ol{margin:.25rem 0;padding-left:1.1rem}
.fields,.codes,.cards,.needs{list-style:none;padding-left:0}
.fields .fields,.options>li{padding-left:1rem;border-left:2px solid var(--line)}
.fields p,.codes p,.needs p{margin:0}
.fields>li,.codes>li{padding:.3rem 0;border-top:1px solid var(--line)}
.operation{margin-top:2rem;border-top:3px solid var(--line)}
.method{font:600 .9em ui-monospace,monospace;color:var(--mark)}
code{font:.9em ui-monospace,monospace}
pre{padding:.6rem;background:var(--sunken);white-space:pre-wrap}
.type,.need,.bounds,.soft{color:var(--soft);font-size:.9em}
.card{display:block;min-height:44px}
summary{padding:.6rem 0;cursor:pointer}
q{quotes:none}
@media print{details::details-content{content-visibility:visible}}
`
