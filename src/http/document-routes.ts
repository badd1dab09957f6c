import { Type as t } from '@sinclair/typebox'
import type { AnyElysia } from 'elysia'
import { memoize } from '../base/memoize.ts'
import { Elysia } from './elysia.ts'
import { type ApiDocument, type DocumentParts, describeApi } from './openapi.ts'
import { pack, replyPacked } from './packed.ts'
import { feature, route, textModel } from './route.ts'

const DocumentModel = t.Unknown({ description: 'An OpenAPI 3.1 document' })
const TextPageModel = textModel('text/html', 'The same for people, without a script')

const LanguageQueryModel = t.Object({
  lang: t.Optional(
    t.Union([t.Literal('en'), t.Literal('es')], { description: 'Language of the descriptions' }),
  ),
})

type Language = 'en' | 'es'

/** HTML with the headers it needs. */
type TextPage = { html: string; headers: Record<string, string> }

/** The forms of the document, each made for the first request. */
type DocumentForms = {
  createParts: () => DocumentParts
  translate: (document: ApiDocument) => Promise<ApiDocument>
  createTextPage: (document: ApiDocument, language: Language) => Promise<TextPage>
}

/** The document of `instances` and of these two routes: for programs, and as one page of text for people. */
export function documentRoutes(instances: readonly AnyElysia[], forms: DocumentForms) {
  // Many may ask while the first answer is made, which takes seconds: all of them get that one.
  const describe = memoize((language: Language): Promise<ApiDocument> => {
    if (language === 'es') return describe('en').then((document) => forms.translate(document))
    return describeApi(routesOf([...instances, own]), forms.createParts())
  })
  const document = memoize(async (language: Language) =>
    pack(JSON.stringify(await describe(language)), 'application/json; charset=utf-8'),
  )
  const textPage = memoize(async (language: Language) => {
    const { html, headers } = await forms.createTextPage(await describe(language), language)
    return { packed: await pack(html, 'text/html; charset=utf-8'), headers }
  })
  const own: AnyElysia = new Elysia({ name: 'document', ...feature({ tag: 'Service' }) })
    .get(
      '/openapi.json',
      async ({ query: { lang = 'en' }, request }) => replyPacked(await document(lang), request),
      {
        query: LanguageQueryModel,
        ...route({
          summary: 'This document',
          access: 'public',
          answers: { 200: DocumentModel, 304: t.Null() },
        }),
      },
    )
    .get(
      '/openapi.html',
      async ({ query, request }) => {
        const lang = query.lang ?? languageOf(request.headers.get('accept-language'))
        const { packed, headers } = await textPage(lang)
        return replyPacked(packed, request, headers)
      },
      {
        query: LanguageQueryModel,
        ...route({
          summary: 'This document as one page of text',
          access: 'public',
          answers: { 200: TextPageModel, 304: t.Null() },
        }),
      },
    )
  return own
}

function routesOf(instances: readonly AnyElysia[]) {
  return instances.flatMap((instance) => instance.routes)
}

function languageOf(accepted: string | null): Language {
  return /^\s*en\b/i.test(accepted ?? '') ? 'en' : 'es'
}
