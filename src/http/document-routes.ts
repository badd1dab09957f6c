import { Type as t } from '@sinclair/typebox'
import type { AnyElysia } from 'elysia'
import { Elysia } from './elysia.ts'
import { type ApiDocument, type DocumentParts, describeApi } from './openapi.ts'
import { reply } from './reply.ts'
import { feature, route, textModel } from './route.ts'

const documentModel = t.Unknown({ description: 'An OpenAPI 3.1 document' })
const pageModel = textModel('text/html', 'The same for people')

/** HTML with the headers it needs. */
type Page = { html: string; headers: Record<string, string> }

/**
 * The document of `instances` and of these two routes, for programs, and for people as `createPage` shows
 * it. It is made for the first request.
 */
export function documentRoutes(
  instances: readonly AnyElysia[],
  createParts: () => DocumentParts,
  createPage: (document: ApiDocument) => Page,
) {
  let made: ReturnType<typeof describeApi> | undefined
  let page: Page | undefined
  const describe = () => {
    const routes = [...instances, own].flatMap((instance) => instance.routes)
    made ??= describeApi(routes, createParts())
    return made
  }
  const own: AnyElysia = new Elysia({ name: 'document', ...feature({ tag: 'Service' }) })
    .get('/openapi.json', async () => reply(200, JSON.stringify(await describe())), {
      ...route({
        summary: 'This document',
        access: 'public',
        answers: { 200: documentModel },
      }),
    })
    .get(
      '/docs',
      async () => {
        page ??= createPage(await describe())
        return reply(200, page.html, page.headers)
      },
      {
        ...route({
          summary: 'This document as a page',
          access: 'public',
          answers: { 200: pageModel },
        }),
      },
    )
  return own
}
