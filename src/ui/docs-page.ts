import { escapeHTML } from 'bun'
import type { ApiDocument, Operation, Schema } from '../http/openapi.ts'
import { staticPageHeaders } from './static-page.ts'

/** HTML with the headers it needs. */
type Page = { html: string; headers: Record<string, string> }

/** The API document as one page, readable on a phone. It has no script, and loads nothing. */
export function createDocsPage(document: ApiDocument): Page {
  const { info, tags, paths, components } = document
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  )
  const sections = tags.map(({ name, description }) => {
    const ofTag = operations.filter(({ operation }) => operation.tags.includes(name))
    const list = ofTag.map((one) => operationHtml(one, components.examples)).join('')
    return `<section><h2>${escapeHTML(name)}</h2><p>${prose(description)}</p>${list}</section>`
  })
  const schemes = Object.entries(components.securitySchemes).map(
    ([name, { description }]) => `<dt>${escapeHTML(name)}</dt><dd>${prose(description)}</dd>`,
  )
  const models = Object.entries(components.schemas).map(
    ([name, schema]) =>
      `<article id="model-${escapeHTML(name)}"><h3>${escapeHTML(name)}</h3>${schemaHtml(schema)}</article>`,
  )
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHTML(info.title)} ${escapeHTML(info.version)}: API</title>
<style>${style}</style>
</head>
<body>
<header>
<h1>${escapeHTML(info.title)} API</h1>
<p>Version ${escapeHTML(info.version)}. The same for programs: <a href="/openapi.json">openapi.json</a>.</p>
<p>${prose(info.description)}</p>
</header>
<main>
<section><h2>Authentication</h2><dl>${schemes.join('')}</dl></section>
${sections.join('\n')}
<section><h2>Models</h2>${models.join('\n')}</section>
</main>
</body>
</html>
`
  return { html, headers }
}

type Placed = { path: string; method: string; operation: Operation }
type Examples = ApiDocument['components']['examples']

function operationHtml({ path, method, operation }: Placed, examples: Examples): string {
  const { operationId, summary, security, parameters, requestBody, responses } = operation
  const schemes = security.flatMap((one) => Object.keys(one))
  const needed = security.every((one) => Object.keys(one).length > 0)
  const access = `Authorization${needed ? '' : ' (optional)'}: ${schemes.join(' or ')}`
  const parts = [`<p class="access">${schemes.length > 0 ? access : 'No authentication'}</p>`]
  if (parameters.length > 0) {
    const rows = parameters.map(({ name, in: place, required, description, schema }) =>
      fieldHtml(name, { ...schema, ...(description && { description }) }, required, place),
    )
    parts.push(`<h4>Parameters</h4><ul class="fields">${rows.join('')}</ul>`)
  }
  if (requestBody) parts.push('<h4>Body</h4>', contentHtml(requestBody.content))
  for (const [status, { content }] of Object.entries(responses)) {
    if (status < '400') parts.push(`<h4>Answer ${status}</h4>`, contentHtml(content))
  }
  if (operation['x-refusals'].length > 0) {
    parts.push('<h4>Refusals</h4>', refusalsHtml(operation['x-refusals'], examples))
  }
  if (operation['x-told']) {
    parts.push('<h4>Told with 200</h4>', refusalsHtml(operation['x-told'], examples))
  }
  return `<details id="${escapeHTML(operationId)}"><summary><b class="method ${escapeHTML(method)}">${escapeHTML(method.toUpperCase())}</b> <code>${breakable(path)}</code> <span>${escapeHTML(summary)}</span></summary><div>${parts.join('')}</div></details>`
}

function refusalsHtml(codes: Operation['x-refusals'], examples: Examples): string {
  const rows = codes.map((code) => {
    // The sentence is the same in every envelope.
    const found = Object.keys(examples).find((name) => name.split('.').at(-1) === code) ?? ''
    const [status = '', ...sentence] = examples[found]?.summary.split(' ') ?? []
    return `<li><b>${escapeHTML(status)}</b> <code>${escapeHTML(code)}</code> <span lang="es-AR">${escapeHTML(sentence.join(' '))}</span></li>`
  })
  return `<ul class="refusals">${rows.join('')}</ul>`
}

function contentHtml(content: Record<string, { schema: Schema }> = {}): string {
  return Object.entries(content)
    .map(([media, { schema }]) =>
      media === 'application/json'
        ? schemaHtml(schema)
        : `<p><code>${escapeHTML(media)}</code>: ${prose(schema.description ?? '')}</p>`,
    )
    .join('')
}

/** A whole schema: its fields, its alternatives, or only its type. */
function schemaHtml(narrowed: Schema): string {
  // An answer that lists its codes is its model with a narrower field.
  const schema = narrowed.allOf?.[0] ?? narrowed
  return inner(schema) || `<p>${typeHtml(schema)} ${prose(schema.description ?? '')}</p>`
}

function fieldHtml(name: string, schema: Schema, required: boolean, place = ''): string {
  const words = [place, required ? '' : 'optional'].filter((word) => word !== '').join(', ')
  const description = schema.description ?? schema.anyOf?.[0]?.description
  const note = description ? ` <span>${prose(description)}</span>` : ''
  return `<li><code>${escapeHTML(name)}</code> <em>${typeHtml(schema)}</em>${words && ` <small>${words}</small>`}${note}${inner(schema)}</li>`
}

/** The fields or alternatives of a schema as a list; empty where it has none. */
function inner(schema: Schema): string {
  const { properties, required = [], items, anyOf } = schema
  if (properties && Object.keys(properties).length > 0) {
    const rows = Object.entries(properties).map(([name, part]) =>
      fieldHtml(name, part, required.includes(name)),
    )
    return `<ul class="fields">${rows.join('')}</ul>`
  }
  if (items) return inner(items)
  const options = anyOf?.filter((option) => option.type !== 'null') ?? []
  const [only] = options
  if (options.length === 1 && only) return inner(only)
  // Alternatives without fields are part of the type's text.
  if (!options.some((option) => inner(option) !== '')) return ''
  const rows = options.map((option) => `<li>${inner(option) || typeHtml(option)}</li>`)
  return `<p>one of</p><ol class="options">${rows.join('')}</ol>`
}

/** The type in a few words. */
function typeHtml(schema: Schema): string {
  const { $ref, anyOf, items, type, title } = schema
  if ($ref) {
    const name = escapeHTML($ref.split('/').at(-1) ?? '')
    return `<a href="#model-${name}">${name}</a>`
  }
  if (schema.const !== undefined) return `<q>${escapeHTML(String(schema.const))}</q>`
  if (schema.enum) return schema.enum.map((one) => `<q>${escapeHTML(String(one))}</q>`).join(' or ')
  if (anyOf) return [...new Set(anyOf.map(typeHtml))].join(' or ')
  if (items) return `list of ${typeHtml(items)}`
  return escapeHTML(title ?? type ?? 'anything')
}

/** Escaped, with `code` marked. */
function prose(text: string): string {
  return escapeHTML(text).replace(/`([^`]+)`/g, '<code>$1</code>')
}

/** Escaped, and allowed to break between the parts of a path. */
function breakable(text: string): string {
  return escapeHTML(text).replace(/\//g, '$&<wbr>')
}

const style = `
:root{color-scheme:light dark;--ink:#1c1b19;--soft:#5f5b54;--paper:#fbfaf7;--card:#fff;--line:#dcd7cd;--mark:#0b5c8a}
@media (prefers-color-scheme:dark){:root{--ink:#ece9e2;--soft:#a9a49a;--paper:#171614;--card:#201f1c;--line:#3a3833;--mark:#7cc4f0}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:60rem;padding:1rem;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif;overflow-wrap:break-word}
a{color:var(--mark)}
h1,h2,h3{line-height:1.2}
h2{margin:2rem 0 .25rem}
h3{margin:1.5rem 0 .25rem}
h4{margin:1rem 0 .25rem}
p{margin:.25rem 0 .5rem}
code{font:.9em ui-monospace,monospace;overflow-wrap:anywhere}
dt{font-weight:600}
dd{margin:0 0 .5rem}
details,article{background:var(--card);border:1px solid var(--line);border-radius:.5rem;margin:.5rem 0}
article{padding:0 .75rem .5rem}
article h3{margin-top:.75rem}
summary{cursor:pointer;padding:.6rem .75rem}
summary:focus-visible,a:focus-visible{outline:2px solid var(--mark);outline-offset:2px}
summary span{color:var(--soft)}
details>div{border-top:1px solid var(--line);padding:.25rem .75rem .75rem}
.method{display:inline-block;min-width:4.2em;color:var(--mark);font:600 .85em ui-monospace,monospace}
.access,small,.fields span{color:var(--soft)}
.fields em{font-style:normal}
ul.fields,ol.options{margin:.25rem 0;padding-left:1.1rem}
.options>li{margin:.25rem 0}
q{quotes:none;font-family:ui-monospace,monospace;font-size:.9em}
q::before,q::after{content:'"'}
ul.refusals{list-style:none;margin:.25rem 0;padding:0}
.refusals li{border-bottom:1px solid var(--line);padding:.3rem 0}
.refusals b{display:inline-block;min-width:2.5em}
.refusals span{display:block;color:var(--soft)}
@media (max-width:40rem){summary span{display:block}}
@media (min-width:50rem){.refusals li{display:grid;grid-template-columns:2.5em 15em 1fr;gap:.5rem}}
`

const headers = staticPageHeaders(style)
