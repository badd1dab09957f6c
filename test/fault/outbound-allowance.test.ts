import { afterAll, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { settings } from '../../src/settings.ts'
import { runCommand } from '../support/cli.ts'
import { cleanUp } from '../support/server.ts'

afterAll(cleanUp)

const source = join(import.meta.dir, '../../src')

test('only an argument of `start` can allow the loopback, and the program never passes one', () => {
  const files = readdirSync(source, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => ({ path: path.slice(source.length + 1), text: readFileSync(path, 'utf8') }))
  const naming = (word: RegExp) =>
    files.filter(({ text }) => word.test(text)).map(({ path }) => path)
  expect(naming(/allowLoopback/)).toEqual(['outbound/fetch-public.ts'])
  expect(naming(/\bOutboundSettings\b/).sort()).toEqual(['app.ts', 'outbound/fetch-public.ts'])
  expect(naming(/createFetchPublic\(/).sort()).toEqual(['app.ts', 'outbound/fetch-public.ts'])
  const starts = files
    .filter(({ text }) => /import [^;]*?\bstart\b[^;]*?'\.\.\/app\.ts'/.test(text))
    .flatMap(({ text }) => [...text.matchAll(/\bawait start\((.*)\)/g)].map(([, args]) => args))
  expect(starts).toEqual(['config, log'])
  expect(Object.keys(settings).filter((name) => /outbound|loopback|private/i.test(name))).toEqual(
    [],
  )
})

test.each(['--outbound', '--allow-loopback', '--allow-private', '--ca'])(
  'there is no flag %s',
  async (flag) => {
    const { code, stderr } = await runCommand(['serve', flag, '1'])
    expect(code).not.toBe(0)
    expect(stderr).toContain(flag)
  },
)
