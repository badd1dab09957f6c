/** The texts of the pages: every sentence in two languages, benefits and money in plain words. */
import { beforeAll, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Benefit } from '../../src/coupons/benefit.ts'
import { secondsNow } from '../support/clock.ts'
import { pretendBrowser } from '../support/fake-browser.ts'

type Language = typeof import('../../src/ui/browser/language.ts')
type Words = typeof import('../../src/ui/words/words.ts')
type Text = typeof import('../../src/ui/words/benefit-text.ts')
type Amount = typeof import('../../src/ui/words/amount.ts')
type Csv = typeof import('../../src/ui/panel/csv.ts')
type Format = typeof import('../../src/ui/words/format.ts')

let speech: Language
let words: Words
let text: Text
let amount: Amount
let csv: Csv
let format: Format

beforeAll(async () => {
  pretendBrowser()
  speech = await import('../../src/ui/browser/language.ts')
  words = await import('../../src/ui/words/words.ts')
  text = await import('../../src/ui/words/benefit-text.ts')
  amount = await import('../../src/ui/words/amount.ts')
  csv = await import('../../src/ui/panel/csv.ts')
  format = await import('../../src/ui/words/format.ts')
})

const cap = { amount: 5000, currency: 'ARS' } as const
const said: [Benefit, badge: string, spanish: string, english: string][] = [
  [
    { type: 'percent', percent: 12.5, productDs: ['café', 'té'], cap },
    '12,5 %',
    '12,5 % de descuento en café y té, hasta $5.000',
    '12.5% off café and té, up to $5,000',
  ],
  [
    { type: 'percent', percent: 100 },
    '100 %',
    'Gratis en toda tu compra',
    'Everything you buy is free',
  ],
  [
    { type: 'fixed', amount: 1500.5, currency: 'USD' },
    'US$1.500,50',
    'US$1.500,50 de descuento en toda tu compra',
    'US$1,500.50 off everything you buy',
  ],
  [
    { type: 'fixed', amount: 2100, currency: 'SAT', productDs: ['pan'] },
    '2.100 sats',
    '2.100 sats de descuento en pan',
    '2,100 sats off pan',
  ],
  [
    { type: 'multibuy', buyQty: 2, payQty: 1, productDs: ['café'], cap },
    '2x1',
    '2x1 en café, hasta $5.000',
    '2 for 1 on café, up to $5,000',
  ],
  [
    { type: 'buyXgetY', buyProductD: 'café', giftProductD: 'medialuna' },
    'De regalo',
    'Comprando café, medialuna de regalo',
    'Buy café, get medialuna free',
  ],
  [
    { type: 'buyXgetY', buyProductD: 'café', giftProductD: 'café' },
    'De regalo',
    'Comprando café, otro de regalo',
    'Buy café, get another one free',
  ],
  [
    {
      type: 'freeItems',
      items: [
        { d: 'medialuna', qty: 2 },
        { d: 'café', qty: 1 },
      ],
    },
    'Gratis',
    'Gratis: 2 × medialuna y café',
    'Free: 2 × medialuna and café',
  ],
]

test.each(said)('describes %j as %s', (benefit, badge, spanish, english) => {
  speech.chooseLanguage('es')
  expect([text.benefitBadge(benefit), text.benefitText(benefit)]).toEqual([badge, spanish])
  speech.chooseLanguage('en')
  expect(text.benefitText(benefit)).toBe(english)
})

const now = new Date(2026, 10, 22, 23, 59)
const times: [at: Date, spanish: string, english: string][] = [
  [new Date(2026, 10, 22, 21, 53), 'hoy a las 21:53', 'today at 21:53'],
  [new Date(2026, 10, 22, 0, 0), 'hoy a las 0:00', 'today at 0:00'],
  [new Date(2026, 10, 21, 23, 59), 'ayer a las 23:59', 'yesterday at 23:59'],
  [new Date(2026, 10, 22, 1, 5), 'hoy a la 1:05', 'today at 1:05'],
  [new Date(2026, 10, 23, 9, 0), 'mañana a las 9:00', 'tomorrow at 9:00'],
  [new Date(2026, 10, 20, 9, 0), 'el 20 de noviembre a las 9:00', 'on 20 November at 9:00'],
  [
    new Date(2025, 10, 22, 9, 0),
    'el 22 de noviembre de 2025 a las 9:00',
    'on 22 November 2025 at 9:00',
  ],
]

test.each(times)('says the time %p as "%s"', (at, spanish, english) => {
  const said = (spoken: 'es' | 'en') => {
    speech.chooseLanguage(spoken)
    return format.moment(at.getTime() / 1000, now.getTime() / 1000)
  }
  expect([said('es'), said('en')]).toEqual([spanish, english])
  // As in "valid until 20 November".
  const after = format.momentAfter(at.getTime() / 1000, now.getTime() / 1000)
  expect(after).toBe(english.replace('on ', ''))
})

test('a number in a sentence has the form of the language', () => {
  const say = words.createWords({ n: ['{n}', '{n}'] })
  const written = [0, 7, 100, 999, 1000, 12.5, 1234567, -3].map((n) => {
    speech.language.value = 'es'
    const spanish = say('n', { n })
    speech.language.value = 'en'
    return [spanish, say('n', { n })]
  })
  expect(written).toEqual([
    ['0', '0'],
    ['7', '7'],
    ['100', '100'],
    ['999', '999'],
    ['1.000', '1,000'],
    ['12,5', '12.5'],
    ['1.234.567', '1,234,567'],
    ['-3', '-3'],
  ])
  // Small whole numbers take another way: it gives the same.
  for (let n = 0; n < 1000; n++) {
    expect(n.toLocaleString('es-AR')).toBe(String(n))
    expect(n.toLocaleString('en')).toBe(String(n))
  }
})

test('paper says no today, since it is read on another day', () => {
  const today = secondsNow()
  for (const spoken of ['es', 'en'] as const) {
    speech.chooseLanguage(spoken)
    expect(format.momentOnPaper(today)).toContain(String(new Date().getFullYear()))
    expect(format.momentOnPaper(today)).not.toMatch(/hoy|today|^on /)
  }
})

test('a name from right to left, or one that would turn text, stays isolated in every sentence', () => {
  speech.chooseLanguage('es')
  const say = words.createWords({
    moved: ['«{name}» pasó de {who}, {when}', 'x {name} {who} {when}'],
  })
  const said = (name: string) => say('moved', { name, who: 'Ana', when: '5' })
  expect(said('Café')).toBe('«Café» pasó de Ana, 5')
  expect(said('قهوة')).toBe('«\u2068قهوة\u2069» pasó de Ana, 5')
  expect(said('a\u202eb')).toBe('«\u2068a\u202eb\u2069» pasó de Ana, 5')
  expect(said('\u2069\u2067ab')).toBe('«\u2068ab\u2069» pasó de Ana, 5')
})

test('a product from right to left stays isolated, without marks in storage', () => {
  speech.chooseLanguage('es')
  const benefit: Benefit = { type: 'percent', percent: 10, productDs: ['قهوة', 'té'], cap }
  expect(text.benefitText(benefit)).toBe('10 % de descuento en \u2068قهوة\u2069 y té, hasta $5.000')
  expect(text.plainBenefitText(benefit)).toBe('10 % de descuento en قهوة y té, hasta $5.000')
})

test('a failure is reported in the language of the page, with the text of the service where that is better', async () => {
  const { ApiError, settingIn } = await import('../../src/client/api-error.ts')
  const { errorText } = await import('../../src/ui/words/errors.ts')
  const refusal = (code: never, status: number, detail = {}) =>
    new ApiError(code, status, { error: 'Una frase.', ...detail })
  const told = (code: string, status: number, detail = {}) => {
    const both = (['es', 'en'] as const).map((spoken) => {
      speech.chooseLanguage(spoken)
      return errorText(refusal(code as never, status, detail))
    })
    return both as [spanish: string, english: string]
  }
  expect(told('voucher-expired', 410)).toEqual(['Una frase.', 'This coupon has expired.'])
  expect(told('quota-of-tomorrow', 409)).toEqual([
    'Una frase.',
    'The service did not accept it (quota-of-tomorrow). Check it and try again.',
  ])
  for (const code of ['batch-full', 'batches-full', 'batch-unknown']) {
    expect(told(code, 409)[1]).not.toContain(code)
  }
  const [spanish, english] = told('disk-low', 503)
  expect(spanish).toContain('se canjean igual')
  expect(english).toContain('can be redeemed as usual')
  expect(told('rate-limited', 429, { retryAfter: 1 })[0]).toContain('en un segundo')
  expect(told('rate-limited', 429, { retryAfter: 40 })[1]).toContain('in 40 seconds')
  expect(told('rate-limited', 429)[0]).toBe('Una frase.')
  speech.chooseLanguage('es')
  const naming = { error: 'Configurá PUBLIC_URL=http://[fe80::1]:3000 y firmá de nuevo.' }
  expect(settingIn(refusal('auth-origin-unknown' as never, 401, naming))).toBe(
    'PUBLIC_URL=http://[fe80::1]:3000',
  )
  expect(settingIn(refusal('auth-expired' as never, 401))).toBeNull()
})

const typed: [text: string, spanish: number, english: number][] = [
  ['5000', 5000, 5000],
  ['5.000', 5000, 5],
  ['5,000', 5, 5000],
  ['1.250,50', 1250.5, Number.NaN],
  ['12,5', 12.5, 12.5],
  ['12.5', 12.5, 12.5],
  ['$ 500', 500, 500],
  ['25 %', 25, 25],
  ['', Number.NaN, Number.NaN],
  ['mil', Number.NaN, Number.NaN],
  ['-5', Number.NaN, Number.NaN],
  ['1e3', Number.NaN, Number.NaN],
]

test.each(typed)('reads "%s" as %d in Spanish and as %d in English', (one, spanish, english) => {
  speech.chooseLanguage('es')
  expect(amount.parseAmount(one)).toBe(spanish)
  speech.chooseLanguage('en')
  expect(amount.parseAmount(one)).toBe(english)
})

test('an exported table contains no cell that a spreadsheet would run', () => {
  const dangerous = ['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', ' =1', '\r=1', '＝1', '\n+1']
  for (const cell of dangerous) expect(csv.csvOf([[cell]])).toBe(`\ufeff"'${cell}"\r\n`)
  expect(csv.csvOf([['a;b', 2]], ';')).toBe('\ufeff"a;b";2\r\n')
  expect(csv.csvOf([['a "b", c', -5, null, 'x=1']])).toBe('\ufeff"a ""b"", c",-5,,"x=1"\r\n')
})

// ── The sentences themselves

/** `'key': ['…', '…']`, over as many lines as it takes. */
const entry =
  /^ +(?:'([^']+)'|([a-z]+)): \[\s*'((?:[^'\\]|\\.)*)',\s*'((?:[^'\\]|\\.)*)',?\s*\],?$/gm

const src = join(import.meta.dir, '../../src')
const files = ['ui', 'client']
  .flatMap((folder) =>
    readdirSync(join(src, folder), { recursive: true, encoding: 'utf8' }).map((file) =>
      join(folder, file),
    ),
  )
  .filter((file) => /\.tsx?$/.test(file))
  .map((file) => ({ file, text: readFileSync(join(src, file), 'utf8') }))

type Sentence = { file: string; key: string; spanish: string; english: string }

/** Every `key: ['…', '…']` of the words; failures of the service are told by their code. */
const sentences: Sentence[] = files
  .filter(({ file }) => file.startsWith('ui/words/') && !file.endsWith('errors.ts'))
  .flatMap(({ file, text: source }) =>
    [...source.matchAll(entry)].map(([, quoted, bare, spanish = '', english = '']) => {
      return { file, key: quoted ?? bare ?? '', spanish, english }
    }),
  )

test('every sentence exists in both languages, with the same placeholders', () => {
  expect(sentences.length).toBeGreaterThan(300)
  const fill = (one: string) => new Set(one.match(/\{\w+\}/g))
  const wrong = sentences.filter(
    ({ spanish, english }) =>
      spanish.trim() === '' ||
      english.trim() === '' ||
      fill(spanish).symmetricDifference(fill(english)).size > 0,
  )
  expect(wrong).toEqual([])
})

/** Words of programs and protocols. A command is quoted: «cuponera tls». */
const jargon = /npub|nsec|bunker|\brelays?\b|ncryptsec|[«“`]\.?\/?cuponera |PUBLIC_URL|HOST=/i

/** Sentences of the other ways to sign in, for people who know these words. */
const forThoseWhoKnow = new Set(['remote.relay', 'remote.paste', 'remote.bunker', 'bunker-invalid'])

test('no sentence of a page has a word of programs, outside of the ways of Nostr', () => {
  const named = sentences
    .filter(({ key }) => !forThoseWhoKnow.has(key))
    .flatMap(({ file, spanish, english }) => [`${file}: ${spanish}`, `${file}: ${english}`])
  const spread = /^ +(?:(?:es|en|'?[a-z-]+'?):\s+)?'(.* .*)',?$|\bplaceholder="(.*)"/gm
  const others = files
    .filter(({ file }) => /^ui\/(words\/errors|tls-page)\.ts$|\.tsx$/.test(file))
    .flatMap(({ file, text: source }) =>
      [...source.matchAll(spread)].map(([, sentence, hint]) => `${file}: ${sentence ?? hint}`),
    )
  expect([named, others].every(({ length }) => length > 60)).toBe(true)
  expect([...named, ...others].filter((one) => jargon.test(one.replace(/^\S+/, '')))).toEqual([])
})

test('no refusal that a page repeats has such a word', async () => {
  const { Refusal, refusalCodes, sentenceOf } = await import('../../src/base/refusal.ts')
  const ours = files.find(({ file }) => file === 'ui/words/errors.ts')?.text ?? ''
  const english = ours.slice(ours.indexOf('const english'))
  const told = refusalCodes.filter((code) => english.includes(`'${code}': `))
  expect(told.length).toBeGreaterThan(30)
  // The panel calls an announcement publishing, and a minter a till.
  const wire = /\banuncio|método|emisores|encabezado|JSON/
  const strange = told.filter((code) => {
    const sentence = sentenceOf(new Refusal(code))
    return jargon.test(sentence) || wire.test(sentence)
  })
  expect(strange).toEqual([])
})

test('every sentence is used', () => {
  const code = files.map(({ file, text: source }) =>
    file.startsWith('ui/words/') ? source.replace(entry, '') : source,
  )
  const all = code.join('\n')
  const starts = [...all.matchAll(/`([\w.-]+\.)\$\{/g)].map(([, start = '']) => start)
  const silent = sentences.filter(
    ({ key }) => !all.includes(`'${key}'`) && !starts.some((start) => key.startsWith(start)),
  )
  expect(silent.map(({ file, key }) => `${file}: ${key}`)).toEqual([])
})

test('a name that the panel made of the benefit is told in the language of its reader', async () => {
  const { shownName } = await import('../../src/ui/words/benefit-text.ts')
  const capped = { type: 'percent', percent: 10, cap: { amount: 5000, currency: 'ARS' } } as const
  const spanish = '10 % de descuento en toda tu compra'
  speech.language.value = 'en'
  expect(shownName(spanish, { type: 'percent', percent: 10 })).toBe('10% off everything you buy')
  expect(shownName(spanish, capped)).toBe('10% off everything you buy')
  expect(shownName('Happy hour', capped)).toBe('Happy hour')
  speech.language.value = 'es'
  expect(shownName('10% off everything you buy', capped)).toBe(spanish)
})

test('a time in a table is short, and an end stands out a week before it', async () => {
  const { nearEnd } = await import('../../src/ui/words/until.ts')
  const end = Date.UTC(2026, 10, 21, 15) / 1000
  speech.language.value = 'es'
  const noon = new Date(2026, 11, 1, 9, 5).getTime() / 1000
  expect(format.momentInTable(noon)).toBe('1/12/2026 9:05')
  // A date of the service has no time, so no clock moves it.
  expect(format.dateOnPill('2026-12-01')).toBe('1 dic 2026')
  const week = 7 * 24 * 3600
  expect([nearEnd(end, end - week), nearEnd(end, end - week + 1)]).toEqual([false, true])
})
