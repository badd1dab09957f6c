import type { Operation, Parameter } from './openapi.ts'

/** A route as the pages of the documentation show it. */
export type Reference = {
  /** Plain text, paragraphs apart. */
  description: string
  /** The first request on its page. */
  request: ExampleRequest | null
  /** The first answer of each status. */
  answers: Record<string, unknown>
}

type ExampleRequest = { path: string; headers: Record<string, string>; body: unknown }

/** Every route of these pages by its name, such as `GET /api/coupons/{id}`. Parameters keep their names. */
export function readReference(pages: readonly string[]): Map<string, Reference> {
  const routes = pages.flatMap((page) => [...sectionsOf(page), ...rowsOf(page)])
  return new Map(routes)
}

function sectionsOf(page: string): [string, Reference][] {
  const [, ...sections] = `\n${page}`.split('\n## ')
  return sections.flatMap((section) => {
    const [name = '', ...lines] = section.split('\n')
    return routeName.test(name) ? [[name, readSection(blocksOf(lines))]] : []
  })
}

const routeName = /^[A-Z]+ \/\S*$/

/** Rows of a table whose first cell is a route: `GET /livez`. */
function rowsOf(page: string): [string, Reference][] {
  return page.split('\n').flatMap((line) => {
    const [before, name = '', ...rest] = line.split('`')
    const text = rest.join('`')
    if (before !== '| ' || !routeName.test(name) || !text.startsWith(' | ')) return []
    const json = rest.find((part) => part.startsWith('{') && part.endsWith('}'))
    const answers = json === undefined ? {} : { 200: JSON.parse(json) }
    const cell = text.slice(' | '.length, -' |'.length)
    return [[name, { description: sentence(cell), request: null, answers }]]
  })
}

/** A row of the catalogue of errors: the statuses of a code, when it is answered and what helps. */
export type CatalogueRow = { statuses: string; meaning?: string }

/** The rows of this page by code. */
export function readCatalogue(page: string): Map<string, CatalogueRow> {
  const rows = page.split('\n').flatMap((line): [string, CatalogueRow][] => {
    const [first = '', statuses, when, help = ''] = line.split(' | ')
    const [, code] = first.split('`')
    if (code === undefined || statuses === undefined || when === undefined) return []
    const [meaning, remedy] = [when, help.slice(0, -' |'.length)].map(sentence)
    return [[code, { statuses, meaning: `${capital(meaning)}. ${capital(remedy)}.` }]]
  })
  return new Map(rows)
}

function capital(text = ''): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}

/** A paragraph, or a fenced block in a language. */
type Block = { language: string | null; text: string }

function blocksOf(lines: readonly string[]): Block[] {
  const blocks: Block[] = []
  let open: Block | null = null
  for (const line of lines) {
    const fenced: boolean = line.startsWith('```')
    if (open !== null && open.language !== null) {
      if (fenced) open = null
      else open.text += `${line}\n`
    } else if (fenced || (open === null && line !== '')) {
      open = fenced
        ? { language: line.slice('```'.length), text: '' }
        : { language: null, text: line }
      blocks.push(open)
    } else if (line === '') open = null
    else if (open !== null) open.text += `\n${line}`
  }
  return blocks
}

function readSection(blocks: readonly Block[]): Reference {
  const request = blocks.find(({ language }) => language === 'http')
  const answers: Record<string, unknown> = {}
  let status: string | undefined
  for (const { language, text } of blocks) {
    if (language === null) status = /^Answer `(\d+)`/.exec(text)?.[1] ?? status
    else if (language === 'json' && status !== undefined) answers[status] ??= JSON.parse(text)
  }
  // Prose ends where examples, tables and refusals begin.
  const end = blocks.findIndex(
    ({ language, text }) => language !== null || /^(?:\||Answers? `|Refuses)/.test(text),
  )
  const prose = blocks.slice(0, end === -1 ? blocks.length : end)
  const paragraphs = prose.map(({ text }) => sentence(text))
  const table = blocks[end]?.text ?? ''
  // A colon announces it.
  if (paragraphs.at(-1)?.endsWith(':') && table.startsWith('|')) paragraphs.push(listOf(table))
  return {
    description: paragraphs.join('\n\n'),
    request: request === undefined ? null : readRequest(request.text),
    answers,
  }
}

/** The rows of a table as a list in Markdown: the first cell, and the rest about it. */
function listOf(table: string): string {
  const [, , ...rows] = table.split('\n')
  const lines = rows.map((row) => {
    const cells = row.split('|').map(sentence)
    const [name = '', ...about] = cells.filter((cell) => cell !== '')
    return `- ${[name, about.join('; ')].join(': ')}`
  })
  return lines.join('\n')
}

function readRequest(text: string): ExampleRequest {
  const [head = '', ...body] = text.trim().split('\n\n')
  const [line = '', ...headers] = head.split('\n')
  const [, path = ''] = line.split(' ')
  return {
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

/** Markdown without links, on one line. */
function sentence(text: string): string {
  const plain = text
    .replace(/<a id="[^"]*"><\/a>/g, '')
    .replace(/\[([^[\]]*)\]\([^()[\]]*\)/g, '$1')
  return plain.replaceAll('**', '').replace(/\s+/g, ' ').trim()
}

/** The operation with the words and examples of its page. */
export function illustrate(
  operation: Operation,
  template: string,
  reference: Reference | undefined,
): Operation {
  if (!reference) return operation
  const { description, request, answers } = reference
  const examples = request ? parameterExamples(template, request) : () => undefined
  const parameters = operation.parameters.map((parameter): Parameter => {
    const example = examples(parameter)
    return example === undefined ? parameter : { ...parameter, example }
  })
  const media = operation.requestBody?.content['application/json']
  if (media && request?.body !== undefined) media.example = request.body
  illustrateAnswers(operation.responses, answers)
  return { ...operation, description, parameters }
}

/** A status without an example of its own has that of another with the same model, such as 200 and 201. */
function illustrateAnswers(responses: Operation['responses'], answers: Record<string, unknown>) {
  const models = new Map<string, unknown>()
  const good = Object.entries(responses).filter(([status]) => status < '400')
  for (const [status, { content = {} }] of good) {
    const media = content['application/json']
    if (!media || answers[status] === undefined) continue
    media.example = answers[status]
    models.set(JSON.stringify(media.schema), media.example)
  }
  for (const [, { content = {} }] of good) {
    const media = content['application/json']
    if (media && media.example === undefined) {
      const example = models.get(JSON.stringify(media.schema))
      if (example !== undefined) media.example = example
    }
  }
}

/** Values of parameters in an example. A parameter is a whole part of the path. */
function parameterExamples(template: string, { path, headers }: ExampleRequest) {
  const [asked = '', query = ''] = path.split('?')
  const parts = template.split('/')
  const values = asked.split('/')
  return ({ name, in: place }: Parameter): string | undefined => {
    if (place === 'path') return values[parts.indexOf(`{${name}}`)]
    if (place === 'query') return new URLSearchParams(query).get(name) ?? undefined
    return headers[name]
  }
}
