import { Type as t } from '@sinclair/typebox'
import type { AnyElysia } from 'elysia'
import { uuidPart } from '../base/field-models.ts'
import { Refusal } from '../base/refusal.ts'
import { Elysia } from '../http/elysia.ts'
import { isKnown } from '../http/etag.ts'
import { encoded } from '../http/packed.ts'
import { feature, route, textModel } from '../http/route.ts'
import { createManifest, createWorker } from './app-files.ts'
import { loadBundle } from './built.ts'
import type { Bundle, PageName } from './bundle.ts'
import { createPage, type PagePlace, type Shell, securityHeaders } from './page.ts'

const HtmlModel = textModel('text/html', 'A page; its scripts and its style lie under /ui/')
const FileModel = textModel(
  'text/javascript, text/css, image/svg+xml, image/png, application/manifest+json',
  'A script, a style or a picture',
)
const ManifestModel = textModel('application/manifest+json', 'The till as an application')
const WorkerModel = textModel(
  'text/javascript',
  'Keeps the pages of a device for without connection',
)
const NothingModel = t.Null()

type File = { type: string; gzip: Uint8Array<ArrayBuffer> }
type Site = {
  shell: Shell
  files: ReadonlyMap<string, File>
  manifest: string
  worker: string
}

const pages = feature({
  tag: 'Service',
  parameters: { file: { description: 'A name that a page gives' }, id: uuidPart('A poster') },
})

const described = (summary: string) =>
  route({ summary, access: 'public', answers: { 200: HtmlModel, 304: NothingModel } })

/**
 * The pages and their files. They are bundled at the first request, so the start does not wait for them.
 * `place` is asked at each request, since what it tells changes.
 */
export function pageRoutes(place: () => PagePlace) {
  let made: Promise<Site> | null = null
  const site = () => {
    made ??= loadBundle()
      .then((bundle) => createSite(bundle))
      .catch((cause: unknown) => {
        // The next request tries again.
        made = null
        throw cause
      })
    return made
  }
  const page = async (name: PageName, request: Request) => {
    const { html, etag } = createPage(name, (await site()).shell, place())
    const headers = {
      'Content-Type': 'text/html; charset=utf-8',
      // Cached but revalidated each time: an upgrade shows at once.
      'Cache-Control': 'no-cache',
      ETag: etag,
      'Access-Control-Allow-Origin': '*',
      ...securityHeaders(name, request.headers.get('host')),
    }
    return isKnown(etag, request.headers.get('if-none-match'))
      ? new Response(null, { status: 304, headers })
      : new Response(html, { headers })
  }
  const routes: AnyElysia = new Elysia({ name: 'pages', ...pages })
    .get(
      '/',
      ({ request }) => {
        if (!(request.headers.get('accept') ?? '').includes('text/html')) {
          throw new Refusal('not-found')
        }
        const headers = { Location: '/panel', 'Access-Control-Allow-Origin': '*' }
        return new Response(null, { status: 302, headers })
      },
      route({
        summary: 'Leads a browser to the panel',
        access: 'public',
        answers: { 302: NothingModel },
        refusals: ['not-found'],
      }),
    )
    .get('/panel', ({ request }) => page('panel', request), described('The merchant’s panel'))
    .get('/docs', ({ request }) => page('docs', request), described('This document as a page'))
    .get('/caja', ({ request }) => page('caja', request), described('The till'))
    .get('/c', ({ request }) => page('c', request), described('A coupon, for whoever holds it'))
    .get(
      '/c/p/:id',
      ({ request }) => page('c', request),
      described('A poster, from which a visitor takes a coupon'),
    )
    .get(
      '/ui/:file',
      async ({ params, request }) => {
        const file = (await site()).files.get(params.file)
        if (!file) throw new Refusal('not-found')
        return fileReply(file, request)
      },
      route({
        summary: 'What the pages load',
        access: 'public',
        answers: { 200: FileModel },
        refusals: ['not-found'],
      }),
    )
    .get(
      '/caja.webmanifest',
      async () => {
        const type = 'application/manifest+json; charset=utf-8'
        return appFile((await site()).manifest, type)
      },
      route({
        summary: 'What makes the till an application of a device',
        access: 'public',
        answers: { 200: ManifestModel },
      }),
    )
    .get(
      '/sw.js',
      async () => appFile((await site()).worker, 'text/javascript; charset=utf-8'),
      route({
        summary: 'Keeps the till and the coupons of a device for without connection',
        access: 'public',
        answers: { 200: WorkerModel },
      }),
    )
  return routes
}

/** Revalidated each time, so that devices learn of a new build. The policy lets the worker call only this service. */
function appFile(text: string, type: string): Response {
  return new Response(text, {
    headers: {
      'Content-Type': type,
      'Cache-Control': 'no-cache',
      'Content-Security-Policy': "default-src 'none'; connect-src 'self'",
      'X-Content-Type-Options': 'nosniff',
      'Access-Control-Allow-Origin': '*',
    },
  })
}

function createSite(bundle: Bundle): Site {
  const { files: texts, ...shell } = bundle
  const files = Object.entries(texts).map(([name, { type, gzip }]) => {
    return [name, { type, gzip: Uint8Array.fromBase64(gzip) }] as const
  })
  return {
    shell,
    files: new Map(files),
    manifest: createManifest(bundle),
    worker: createWorker(bundle),
  }
}

/** A name has a hash of the content, so a cached file never changes. */
function fileReply({ type, gzip }: File, request: Request): Response {
  const { body, headers } = encoded(gzip, request)
  return new Response(body, {
    headers: {
      ...headers,
      'Content-Type': type,
      'Cache-Control': 'public, max-age=31536000, immutable',
      'Access-Control-Allow-Origin': '*',
      'X-Content-Type-Options': 'nosniff',
      'Cross-Origin-Resource-Policy': 'same-origin',
      // A worker has the rights of its own file: this one may load its parts, and call nobody.
      'Content-Security-Policy': "default-src 'none'; script-src 'self'",
    },
  })
}
