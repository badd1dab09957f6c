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
