import type { ApiDocument, Schema } from '../../http/openapi.ts'
import { type Entry, modelNameOf, resolved } from './outline.ts'

/** A value of one's own, which a shell variable of this name holds. */
type Variable =
  | 'URL'
  | 'TOKEN'
  | 'COUPON'
  | 'NONCE'
  | 'HANDLE'
  | 'BATCH'
  | 'POSTER'
  | 'PICTURE'
  | 'KEY'
  | 'ATTEMPT'
  | 'EVENT'
  | 'EVENT_ID'
  | 'ADDRESS'
  | 'NAME'
  | 'IDENTITY_NONCE'
  | 'VOUCHER'
  | 'CODE'
  | 'PASSPHRASE'
  | 'TICKET'
  | 'P'
  | 'C'
  | 'K1'
  | 'INVOICE'
  | 'FILE'
/** Files that a command reads or signs with. */
export type CurlNeed = Variable | 'shop.nsec' | 'picture.png' | 'move.age'

type Curl = { command: string; needs: CurlNeed[] }

/**
 * A command that sends the request of an operation, as printed: with the fields that it needs, in a shell that has
 * the variables in `needs`. `origin`: the address of the service, `$URL` where it is not known.
 */
export function curlOf(entry: Entry, document: ApiDocument, origin: string): Curl {
  const { method, operation } = entry
  const needs = new Set<CurlNeed>(origin === '$URL' ? ['URL'] : [])
  const use = (variable: Variable) => {
    needs.add(variable)
    return `$${variable}`
  }
  const url = `${origin}${pathOf(entry, use)}`
  const lines = [`curl -sS${method === 'GET' ? '' : ` -X ${method}`}${flagsOf(entry)} "${url}"`]
  const schemes = operation.security.flatMap((one) => Object.keys(one))
  const needed = operation.security.every((one) => Object.keys(one).length > 0)
  if (needed && schemes.includes('bearer')) {
    lines.push(`-H "Authorization: Bearer ${use('TOKEN')}"`)
  } else if (needed && schemes.length > 0) {
    needs.add('shop.nsec')
    lines.push(`-H "$(cuponera sign --key shop.nsec ${method} "${url}")"`)
  }
  for (const { name, in: place, required } of operation.parameters) {
    if (place === 'header' && required) {
      lines.push(`-H "${name}: ${use(name === 'X-Move-Ticket' ? 'TICKET' : 'ATTEMPT')}"`)
    }
  }
  const [media, body] = Object.entries(operation.requestBody?.content ?? {})[0] ?? []
  if (media === 'application/json' && body) {
    lines.push("-H 'Content-Type: application/json'", `-d ${jsonOf(body, document, use)}`)
  } else if (media !== undefined) {
    const file = media.startsWith('image/') ? 'picture.png' : 'move.age'
    needs.add(file)
    const type = file === 'picture.png' ? 'image/png' : media
    lines.push(`-H 'Content-Type: ${type}'`, `--data-binary @${file}`)
  }
  return { command: lines.join(' \\\n  '), needs: [...needs] }
}

/** `-N` for a stream, `-o` for bytes, and `Accept` where a route answers browsers or relays alone. */
function flagsOf({ path, operation }: Entry): string {
  const [good] = Object.entries(operation.responses)
  const media = Object.keys(good?.[1].content ?? {})[0] ?? ''
  if (media === 'text/event-stream') return ' -N'
  if (path === '/') return " -i -H 'Accept: text/html'"
  if (media === 'application/nostr+json') return ` -H 'Accept: ${media}'`
  return /^(image\/|application\/(octet-stream|x-))/.test(media) ? ' -o answer' : ''
}

/** The path with its needed parameters. */
function pathOf({ path, operation }: Entry, use: (variable: Variable) => string): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
    // Without a value the command stops: a shorter path may be that of another route.
    use(pathVariables[`${path} ${name}`] ?? pathVariables[name] ?? 'NAME').replace(/\w+/, '{$&:?}'),
  )
  const query = operation.parameters.flatMap(({ name, in: place, required, example = '' }) => {
    if (place !== 'query' || !required) return []
    const variable = queryVariables[name]
    return [`${name}=${variable ? use(variable) : example}`]
  })
  return query.length === 0 ? filled : `${filled}?${query.join('&')}`
}

const pathVariables: Record<string, Variable> = {
  id: 'COUPON',
  batch: 'BATCH',
  handle: 'HANDLE',
  hash: 'PICTURE',
  key: 'KEY',
  name: 'NAME',
  nonce: 'IDENTITY_NONCE',
  k1: 'K1',
  file: 'FILE',
  '/api/posters/{id} id': 'POSTER',
  '/api/posters/{id}/take id': 'POSTER',
  '/c/p/{id} id': 'POSTER',
  '/nostr/publish/{id} id': 'EVENT_ID',
  '/api/wallet/vouchers/{id} id': 'HANDLE',
}

const queryVariables: Record<string, Variable> = {
  nonce: 'NONCE',
  name: 'NAME',
  p: 'P',
  c: 'C',
  k1: 'K1',
  pr: 'INVOICE',
}

const bodyVariables: Record<string, Variable> = {
  nonce: 'NONCE',
  couponId: 'COUPON',
  code: 'CODE',
  passphrase: 'PASSPHRASE',
  pubkey: 'KEY',
  to: 'ADDRESS',
}

/** Variables whose value is JSON. */
const jsonVariables: Record<string, Variable> = { event: 'EVENT', voucher: 'VOUCHER' }

type Body = { schema: Schema; example?: unknown }

/** The needed fields of the example, or all where none is needed, quoted for a shell. */
function jsonOf(body: Body, document: ApiDocument, use: (variable: Variable) => string): string {
  if (modelNameOf(body.schema) === 'NostrEvent') return `"${use('EVENT')}"`
  const { required = [] } = resolved(document, body.schema)
  const example = Object.entries((body.example ?? {}) as Record<string, unknown>)
  const sent = required.length === 0 ? example : example.filter(([name]) => required.includes(name))
  const named = sent.some(([name]) => name in bodyVariables || name in jsonVariables)
  if (!named) return `'${JSON.stringify(Object.fromEntries(sent)).replaceAll("'", "'\\''")}'`
  const fields = sent.map(([name, value]) => {
    const [plain, json] = [bodyVariables[name], jsonVariables[name]]
    const text = plain ? `\\"${use(plain)}\\"` : json ? use(json) : quoted(JSON.stringify(value))
    return `${quoted(JSON.stringify(name))}:${text}`
  })
  return `"{${fields.join(',')}}"`
}

/** A text between double quotes of a shell. */
function quoted(text: string): string {
  return text.replace(/[\\"$`]/g, '\\$&')
}
