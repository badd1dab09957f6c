/** Drafts of a coupon: the panel refuses what the service would. */
import { beforeAll, expect, test } from 'bun:test'
import { pretendBrowser } from '../support/fake-browser.ts'

type Drafts = typeof import('../../src/ui/panel/draft.ts')
type Checks = typeof import('../../src/ui/panel/draft-check.ts')

let drafts: Drafts
let checks: Checks

beforeAll(async () => {
  pretendBrowser()
  drafts = await import('../../src/ui/panel/draft.ts')
  checks = await import('../../src/ui/panel/draft-check.ts')
})

const outcome = (fields: { name?: string; description?: string }) =>
  checks.authoredOf({ ...drafts.emptyDraft, percent: '10', name: 'Café', ...fields })

test('an invisible name, or one that turns text, is reported beside its field', () => {
  for (const name of ['\u3164', 'Café\u202e']) {
    expect(outcome({ name })).toEqual({ authored: null, wrongs: { name: 'wrong.hidden' } })
  }
  expect(outcome({ name: '\ufeff ' }).authored?.name).toBe('10 % de descuento en toda tu compra')
})

test('a description that turns the text behind it is reported, too', () => {
  const wrongs = { description: 'wrong.hidden' } as const
  expect(outcome({ description: '\u2067Rico' })).toEqual({ authored: null, wrongs })
  const copied = 'Al \u202a+54 9 11\u202c'
  expect(outcome({ description: copied }).authored?.description).toBe(copied)
})
