/** The scripts of the pages run in a browser, which has nothing of Node. */
import { expect, test } from 'bun:test'
import { refusalCodes, sentenceOf } from '../../src/base/refusal.ts'
import { parseSecret } from '../../src/nostr/keys.ts'
import { buildPages } from '../../src/ui/bundle.ts'

const built = await buildPages()

test('no script of a page names what only Node has', async () => {
  const scripts = built.outputs.filter(({ path }) => path.endsWith('.js'))
  expect(scripts.length).toBeGreaterThan(5)
  const named =
    /(?<![\w$.])(Buffer\b|Bun\b|process[.[]|require\(|setImmediate\b|__dirname\b)|["']node:/g
  const found: string[] = []
  for (const script of scripts) {
    const text = await script.text()
    for (const { index } of text.matchAll(named)) found.push(text.slice(index - 40, index + 40))
  }
  expect(found).toEqual([])
})

test('the sentences of refusals stay with the service, which answers them', async () => {
  const sentences = refusalCodes.map((code) => sentenceOf({ code, words: null }))
  const texts = await Promise.all(built.outputs.map((output) => output.text()))
  const carried = sentences.filter((sentence) => texts.some((text) => text.includes(sentence)))
  // Pages say a few things in the same words.
  expect(carried.length).toBeLessThan(10)
})

test('no page bundles a stand-in for a module of Node', () => {
  const inputs = Object.keys(built.metafile?.inputs ?? {})
  expect(inputs.length).toBeGreaterThan(100)
  expect(inputs.filter((path) => /(^|\/)(node|bun):/.test(path))).toEqual([])
})

test('no page carries what only the service needs', () => {
  const needless =
    /base\/limits(?!-client)|node_modules\/(bech32|age-encryption|@sinclair\/typebox)\//
  const inputs = Object.keys(built.metafile?.inputs ?? {})
  expect(inputs.filter((path) => needless.test(path))).toEqual([])
})

test('a browser, which has no Buffer, reads a secret in hex', () => {
  const { Buffer } = globalThis
  const hex = '7f'.repeat(32)
  Reflect.deleteProperty(globalThis, 'Buffer')
  try {
    expect(parseSecret(hex)).toEqual(new Uint8Array(32).fill(0x7f))
  } finally {
    globalThis.Buffer = Buffer
  }
})

test.each([
  ['panel/panel.tsx', ['nostr-tools/lib/esm/nip46', 'qr/decode', 'ui/words/coupon.ts']],
  ['till/till.tsx', ['qr/decode', 'nip49', 'ui/words/coupon.ts', 'ui/words/panel.ts']],
  ['coupon/coupon.tsx', ['secp256k1', 'qr/decode', 'ui/words/till.ts', 'ui/words/panel.ts']],
])('%s starts without the code of what few visits need', (entry, absent) => {
  const sources = sourcesOf(entry)
  expect(sources.length).toBeGreaterThan(50)
  // The service's library of addresses, and a layer that treats events otherwise.
  const unwanted = [...absent, 'ipaddr', 'preact/compat']
  expect(unwanted.filter((name) => sources.some((path) => path.includes(name)))).toEqual([])
})

test('relays are asked for the name of a shop without the code of signatures, which only an answer needs', () => {
  const sources = sourcesOf('client/profile.ts')
  expect(sources.length).toBeGreaterThan(3)
  expect(sources.filter((path) => path.includes('secp256k1'))).toEqual([])
})

/** The sources of a script and of all that it imports at once. */
function sourcesOf(entry: string): string[] {
  const outputs = built.metafile?.outputs ?? {}
  const start = Object.keys(outputs).find((path) => outputs[path]?.entryPoint?.endsWith(entry))
  const seen = new Set(start === undefined ? [] : [start])
  for (const path of seen) {
    for (const { path: part, kind } of outputs[path]?.imports ?? []) {
      if (kind === 'import-statement') seen.add(part)
    }
  }
  return [...seen].flatMap((path) => Object.keys(outputs[path]?.inputs ?? {}))
}
