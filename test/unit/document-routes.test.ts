/** The forms of the API document, whatever the number of those who ask for them at once. */
import { expect, test } from 'bun:test'
import { documentRoutes } from '../../src/http/document-routes.ts'

/** Routes whose forms count how often they were made. The first page of text of `failing` fails. */
function newRoutes(failing: string) {
  const made: string[] = []
  const routes = documentRoutes([], {
    createParts: () => {
      made.push('document')
      return {
        ...{ version: '1', sections: {}, securitySchemes: {}, models: {} },
        ...{ words: { descriptions: {}, patterns: {} }, reference: () => undefined },
        catalogue: new Map(),
      }
    },
    async translate(document) {
      made.push('translation')
      return document
    },
    async createTextPage(_, language) {
      made.push(`page ${language}`)
      await Bun.sleep(0)
      if (language === failing && made.filter((one) => one === `page ${language}`).length === 1) {
        throw new Error('no page')
      }
      return { html: `page ${language}`, headers: {} }
    },
  })
  const ask = (path: string) => routes.handle(new Request(`http://localhost${path}`))
  return { made, ask }
}

test('a form that many ask for at once is made once, in each language', async () => {
  const { made, ask } = newRoutes('')
  const paths = ['/openapi.html', '/openapi.json'].flatMap((path) => [
    `${path}?lang=en`,
    `${path}?lang=es`,
  ])
  const many = Array.from({ length: 20 }, () => paths).flat()
  const answers = await Promise.all(many.map((path) => ask(path)))
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
  const texts = await Promise.all(answers.map((answer) => answer.text()))
  expect(new Set(texts).size).toBe(3)
  expect(made.toSorted()).toEqual(['document', 'page en', 'page es', 'translation'])
})

test('a form that could not be made is made for the next who asks', async () => {
  const { made, ask } = newRoutes('es')
  const failed = await Promise.all([ask('/openapi.html?lang=es'), ask('/openapi.html?lang=es')])
  expect(failed.map(({ ok }) => ok)).toEqual([false, false])
  expect(await (await ask('/openapi.html?lang=es')).text()).toBe('page es')
  expect(made.toSorted()).toEqual(['document', 'page es', 'page es', 'translation'])
})
