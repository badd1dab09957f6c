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
  const [, ...sections] = page.split(/^(?=## )/m)
  return sections.flatMap((section) => {
    const [, name = ''] = /^## ([A-Z]+ \/\S*)\n/.exec(section) ?? []
    if (name === '') return []
    return [[name, readSection(section.slice(section.indexOf('\n')))]]
  })
}

/** Rows of a table whose first cell is a route: `GET /livez`. */
function rowsOf(page: string): [string, Reference][] {
  return [...page.matchAll(/^\| `([A-Z]+ \/\S*)` \| (.+) \|$/gm)].map(
    ([, name = '', text = '']) => {
      const answer = /`(\{.*?\})`/.exec(text)?.[1]
      const answers = answer === undefined ? {} : { 200: JSON.parse(answer) }
      return [name, { description: sentence(text), request: null, answers }]
    },
  )
}

function readSection(text: string): Reference {
  const [, request] = /^```http\n([\s\S]*?)^```$/m.exec(text) ?? []
  const answers: Record<string, unknown> = {}
  for (const [, status = '', json = ''] of text.matchAll(answerPattern)) {
    answers[status] ??= JSON.parse(json)
  }
  // Prose ends where examples, tables and refusals begin.
  const [prose = ''] = text.split(/^(?:```|\||Answers? `|Refuses)/m)
  const paragraphs = prose.split(/\n{2,}/).map(sentence)
  return {
    description: paragraphs.filter((one) => one !== '').join('\n\n'),
    request: request === undefined ? null : readRequest(request),
    answers,
  }
}

const answerPattern = /^Answer `(\d+)`(?:[^\n]*\n)+?\n```json\n([\s\S]*?)^```/gm

function readRequest(text: string): ExampleRequest {
  const [head = '', body] = text.split(/\n\n([\s\S]+)/)
  const [line = '', ...headers] = head.trim().split('\n')
  const [, path = ''] = line.split(' ')
  return {
    path,
    headers: Object.fromEntries(
      headers.map((header) => header.split(/: (.*)/) as [string, string]),
    ),
    body: body === undefined ? undefined : JSON.parse(body),
  }
}

/** Markdown without links, on one line. */
function sentence(text: string): string {
  const plain = text.replace(/<a id="[^"]*"><\/a>/g, '').replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
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

/** Values of parameters in an example. */
function parameterExamples(template: string, { path, headers }: ExampleRequest) {
  const [asked = '', query = ''] = path.split('?')
  const names = [...template.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const pattern = template.replace(/[.]/g, '\\$&').replace(/\{\w+\}/g, '([^/]+)')
  const values = new RegExp(`^${pattern}$`).exec(asked)?.slice(1) ?? []
  return (parameter: Parameter): string | undefined => {
    if (parameter.in === 'path') return values[names.indexOf(parameter.name)]
    if (parameter.in === 'query') return new URLSearchParams(query).get(parameter.name) ?? undefined
    return headers[parameter.name]
  }
}
