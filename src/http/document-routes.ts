import { Type as t } from '@sinclair/typebox'
import type { AnyElysia } from 'elysia'
import { Elysia } from './elysia.ts'
import { type ApiDocument, type DocumentParts, describeApi } from './openapi.ts'
import { type Packed, pack, replyPacked } from './packed.ts'
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
  const made = new Map<Language, Promise<ApiDocument>>()
  const packed = new Map<Language, Packed>()
  const pages = new Map<Language, { packed: Packed; headers: Record<string, string> }>()
  const describe = (language: Language): Promise<ApiDocument> => {
    const known = made.get(language)
    if (known !== undefined) return known
    const making =
      language === 'es'
        ? describe('en').then((document) => forms.translate(document))
        : describeApi(routesOf([...instances, own]), forms.createParts())
    made.set(language, making)
    return making
  }
  const own: AnyElysia = new Elysia({ name: 'document', ...feature({ tag: 'Service' }) })
    .get(
      '/openapi.json',
      async ({ query: { lang = 'en' }, request }) => {
        const text =
          packed.get(lang) ??
          (await pack(JSON.stringify(await describe(lang)), 'application/json; charset=utf-8'))
        packed.set(lang, text)
        return replyPacked(text, request)
      },
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
        const page = pages.get(lang) ?? (await textPage(lang))
        pages.set(lang, page)
        return replyPacked(page.packed, request, page.headers)
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
  const textPage = async (language: Language) => {
    const { html, headers } = await forms.createTextPage(await describe(language), language)
    return { packed: await pack(html, 'text/html; charset=utf-8'), headers }
  }
  return own
}

function routesOf(instances: readonly AnyElysia[]) {
  return instances.flatMap((instance) => instance.routes)
}

function languageOf(accepted: string | null): Language {
  return /^\s*en\b/i.test(accepted ?? '') ? 'en' : 'es'
}
