/** The table of docs/transactions.md beside the code. */
import { expect, test } from 'bun:test'
import { kindOf } from '../../src/db/roots.ts'
import { coverage } from '../postgres/races/coverage.ts'
import { readText, src } from './tree.ts'

const rows = readText('docs/transactions.md')
  .split('\n')
  .filter((line) => line.startsWith('| ') && line.includes('.ts`'))
  .map((line) => {
    const [, , files = '', roots = '', later = ''] = line.split('|')
    return {
      files: [...files.matchAll(/`([^`]+)`/g)].map(([, file]) => `src/${file}`),
      words: `${roots} ${later}`,
    }
  })

const operations = src.filter(({ path }) => !path.startsWith('src/db/'))

test('the table of roots names every file with a transaction, and no other', () => {
  const transacting = operations.filter(({ code }) => /\.transact\(|\btx\.lock\(/.test(code))
  expect(
    between(
      rows.flatMap(({ files }) => files),
      transacting,
    ),
  ).toEqual([])
})

test('the table of roots says where an operation has none', () => {
  const without = operations.filter(({ text }) => /roots: 'none'/.test(text))
  const named = rows.filter(({ words }) => /\bnone\b/.test(words)).flatMap(({ files }) => files)
  expect(between(named, without)).toEqual([])
})

test('the table of roots has every kind of root', () => {
  const text = readText('src/db/roots.ts')
  const [, order = ''] = /const order: .* = \{([^}]*)\}/.exec(text) ?? []
  const kinds = [...order.matchAll(/(\w+): \d+/g)].map(([, kind = '']) => kind)
  expect(kinds).toContain(kindOf('instance'))
  const words = rows.map((row) => row.words).join(' ')
  expect(kinds.filter((kind) => !new RegExp(`\\b${kind}\\b`).test(words))).toEqual([])
})

/** Paths that only the table or only the code has. */
function between(named: readonly string[], files: readonly { path: string }[]): string[] {
  return [...new Set(named).symmetricDifference(new Set(files.map(({ path }) => path)))]
}

test('every place that begins a transaction has its operations in the race matrix, or a reason', () => {
  const places = operations.flatMap(({ path, code }) => {
    const count = code.match(/\.transact\b/g)?.length ?? 0
    return count === 0 ? [] : [`${path.slice('src/'.length)}: ${count}`]
  })
  const covered = Object.entries(coverage).map(([path, of]) => `${path}: ${of.length}`)
  expect([...new Set(places).symmetricDifference(new Set(covered))]).toEqual([])
})

test('the list of the race matrix names its operations, and each of them', () => {
  const files = ['operations', 'gateway-operations', 'relay-operations', 'transfer-operations']
  const texts = [...files, 'wallet-operations'].map((name) =>
    readText(`test/postgres/races/${name}.ts`),
  )
  const names = texts.flatMap((text) => [
    ...[...text.matchAll(/^ {4}(?:'([^']+)': |([a-z]+): \(\) =>(?! \(\{))/gm)].map(
      ([, quoted, word]) => quoted ?? word,
    ),
    ...[...text.matchAll(/\bconst sweeps = \{([^}]*)\}/g)].flatMap(([, list = '']) =>
      list.split(',').map((one) => one.trim()),
    ),
  ])
  const named = Object.values(coverage).flatMap((places) =>
    places.flatMap((place) => (typeof place === 'string' ? [] : place)),
  )
  expect([...new Set(named).symmetricDifference(new Set(names))]).toEqual([])
})
