/** The scripts of the pages run in a browser, which has nothing of Node. */
import { expect, test } from 'bun:test'
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
