import { promisify } from 'node:util'
import { gzip as gzipText } from 'node:zlib'
import { etagOf, isKnown } from './etag.ts'

const compress = promisify(gzipText)

/** A long text that is the same for everybody, compressed once. */
type Packed = { type: string; gzip: Uint8Array<ArrayBuffer>; etag: string }

/** Compress a text in another thread. */
export async function pack(text: string, type: string): Promise<Packed> {
  const gzip = new Uint8Array(await compress(text, { level: 9 }))
  // The encodings share the tag, which is weak therefore (RFC 9110, 8.8.3).
  return { type, gzip, etag: `W/${etagOf(text)}` }
}

/** Revalidated each time, so that an upgrade shows at once. */
export function replyPacked(
  { type, gzip, etag }: Packed,
  request: Request,
  others: Record<string, string> = {},
): Response {
  const { body, headers: coded } = encoded(gzip, request)
  const headers = {
    ...coded,
    'Content-Type': type,
    'Cache-Control': 'no-cache',
    ETag: etag,
    'Access-Control-Allow-Origin': '*',
    ...others,
  }
  return isKnown(etag.slice('W/'.length), request.headers.get('if-none-match'))
    ? new Response(null, { status: 304, headers })
    : new Response(body, { headers })
}

/** The body in an encoding that the client takes, and the headers about it. */
export function encoded(gzip: Uint8Array<ArrayBuffer>, request: Request) {
  const zipped = /\bgzip\b/.test(request.headers.get('accept-encoding') ?? '')
  return {
    body: zipped ? gzip : Bun.gunzipSync(gzip),
    headers: { ...(zipped && { 'Content-Encoding': 'gzip' }), Vary: 'Accept-Encoding' },
  }
}
