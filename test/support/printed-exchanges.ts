/** Requests and answers of the reference, in the order of its pages. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Json } from './client.ts'
import { readText, root } from './printed.ts'

export type PrintedRequest = {
  /** Page and line, such as `cards.md:44`. */
  place: string
  /** Such as `PATCH /api/coupons/{id}`. */
  route: string
  /** With its query. */
  path: string
  headers: Record<string, string>
  /** Undefined where it has none. */
  body: Json
}

export type PrintedAnswer = {
  place: string
  /** Null outside of the sections of routes. */
  route: string | null
  /** Null where the page says none: a refusal, or a part of something. */
  status: number | null
  value: Json
  /** The page shows some keys of the answer. */
  partial: boolean
  /** The request above it, to which it is the first answer. */
  request: PrintedRequest | null
}

export type PrintedExchanges = { requests: PrintedRequest[]; answers: PrintedAnswer[] }

/** The `http` and `json` blocks of docs/api. A request names one of `templates`: paths of the document. */
export function readPrinted(templates: readonly string[]): PrintedExchanges {
  const folder = join(root, 'docs/api')
  const printed = readdirSync(folder)
    .filter((name) => name.endsWith('.md'))
    .toSorted((a, b) => (a < b ? -1 : 1))
    .map((name) => readPage(name, readText(`docs/api/${name}`), templates))
  return {
    requests: printed.flatMap(({ requests }) => requests),
    answers: printed.flatMap(({ answers }) => answers),
  }
}

function readPage(name: string, page: string, templates: readonly string[]): PrintedExchanges {
  const requests: PrintedRequest[] = []
  const answers: PrintedAnswer[] = []
  let section: string | null = null
  let status: number | null = null
  let request: PrintedRequest | null = null
  let end = 0
  for (const block of page.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)) {
    const [whole, language, text = ''] = block
    const before = page.slice(end, block.index)
    end = block.index + whole.length
    const heading = [...before.matchAll(/^## (.*)$/gm)].at(-1)?.[1]
    if (heading !== undefined) {
      section = /^[A-Z]+ \/\S*$/.test(heading) ? heading : null
      status = null
      request = null
    }
    const place = `${name}:${page.slice(0, block.index).split('\n').length}`
    if (language === 'http') {
      request = readRequest(place, text, templates)
      requests.push(request)
    } else if (language === 'json') {
      const value = JSON.parse(text)
      const introduction = before.trimEnd().split('\n\n').at(-1) ?? ''
      const said = /^Answer `(\d+)`/.exec(introduction)?.[1]
      status = said === undefined ? status : Number(said)
      const refusal = said === undefined && typeof value.code === 'string'
      answers.push({
        ...{ place, route: section, value },
        status: refusal ? null : status,
        partial: introduction.startsWith('From such an answer'),
        request: said === undefined ? null : request,
      })
      if (said !== undefined) request = null
    }
  }
  return { requests, answers }
}

function readRequest(place: string, text: string, templates: readonly string[]): PrintedRequest {
  const [head = '', ...body] = text.trim().split('\n\n')
  const [line = '', ...headers] = head.split('\n')
  const [method = '', path = '', protocol] = line.split(' ')
  if (protocol !== 'HTTP/1.1') throw new Error(`${place} has no request line: ${line}`)
  return {
    place,
    route: `${method} ${templateOf(path, templates)}`,
    path,
    headers: Object.fromEntries(
      headers.map((header): [string, string] => {
        const [name = '', ...value] = header.split(': ')
        return [name, value.join(': ')]
      }),
    ),
    body: body.length === 0 ? undefined : JSON.parse(body.join('\n\n')),
  }
}

/** The template that a path fits, one without parameters before others. */
function templateOf(path: string, templates: readonly string[]): string {
  const [asked = ''] = path.split('?')
  const fits = (template: string) =>
    new RegExp(`^${template.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}$`).test(asked)
  const found = templates.includes(asked) ? asked : templates.find(fits)
  if (found === undefined) throw new Error(`no route has the path ${path}`)
  return found
}
