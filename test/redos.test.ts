/** Regular expressions of src: none may take more than linear time on any text (ReDoS). */
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type AnyNode, parse } from 'acorn'
import { Glob } from 'bun'
import { check } from 'recheck'
import recheck from 'recheck/package.json'
import { chooseSeed, Random } from './fuzz/random.ts'
import proven from './support/linear-patterns.json'

const root = join(import.meta.dir, '..')
/** It takes half a minute on an idle machine without the list, and ten times as long on a loaded one. */
const testMs = 800_000
/** Bounded by its steps alone: with its clocks a verdict would depend on the load of the machine. */
const untimed = {
  timeout: null,
  attackTimeout: null,
  incubationTimeout: null,
  seedingTimeout: null,
}

/** A pattern whose check takes longer belongs into the list. */
const dearMs = 500
/** Patterns of the list that each run checks again. */
const again = 3

// The checker in JavaScript: its other forms are a Java archive and a program for each system.
process.env.RECHECK_BACKEND = 'pure'

type Pattern = { source: string; flags: string; places: Set<string> }
type Found = { patterns: Map<string, Pattern>; unknown: string[] }

const { patterns, unknown } = findPatterns()
const seed = chooseSeed()

/** A verdict depends on the pattern and on the checker alone: those of the dearest patterns are kept. */
const kept = new Set(proven.checker === recheck.version ? proven.patterns : [])

test('every pattern is a literal, or built of constant texts, so that it can be checked', () => {
  expect(patterns.size).toBeGreaterThan(100)
  expect(unknown).toEqual([])
})

test(
  `no pattern takes more than linear time, SEED=${seed}`,
  async () => {
    const random = new Random(seed)
    const known = [...patterns.keys()].filter((text) => kept.has(text))
    const chosen = new Set(
      Array.from({ length: Math.min(again, known.length) }, () => random.pick(known)),
    )
    const faults: string[] = []
    for (const [text, { source, flags, places }] of patterns) {
      if (kept.has(text) && !chosen.has(text)) continue
      const before = process.cpuUsage()
      const found = await check(source, flags, untimed)
      const { user, system } = process.cpuUsage(before)
      if (!kept.has(text) && user + system > dearMs * 1000) {
        console.log(`a dear check, for test/support/linear-patterns.json: ${text}`)
      }
      if (found.status === 'safe') continue
      const why = found.status === 'unknown' ? found.error.kind : found.complexity.summary
      faults.push(`${text} in ${[...places]}: ${found.status}, ${why}`)
    }
    expect(faults).toEqual([])
  },
  testMs,
)

test('the checker finds known slow patterns', async () => {
  const status = async ({ source, flags }: RegExp) => (await check(source, flags, untimed)).status
  expect(await status(/\s*,\s*/)).toBe('vulnerable')
  expect(await status(/^(a|a)*$/)).toBe('vulnerable')
  expect(await status(/(.*)x$/)).toBe('vulnerable')
  expect(await status(/^[a-z]+(,[a-z]+)*$/)).toBe('safe')
})

/** Patterns of every file of src; comments, types and JSX are gone before it is parsed. */
function findPatterns(): Found {
  const found: Found = { patterns: new Map(), unknown: [] }
  for (const path of new Glob('src/**/*.{ts,tsx}').scanSync(root)) {
    if (path.endsWith('.d.ts')) continue
    const loader = path.endsWith('x') ? 'tsx' : 'ts'
    const text = readFileSync(join(root, path), 'utf8')
    const code = new Bun.Transpiler({ loader, target: 'bun' }).transformSync(text)
    const program = parse(code, { ecmaVersion: 'latest', sourceType: 'module' })
    const constants = new Map<string, string>()
    for (const node of nodesIn(program)) {
      if (node.type !== 'VariableDeclarator' || node.id.type !== 'Identifier') continue
      const value = textOf(node.init, constants)
      if (value !== null) constants.set(node.id.name, value)
    }
    for (const node of nodesIn(program)) take(node, path, constants, found)
  }
  return found
}

function take(node: AnyNode, path: string, constants: Map<string, string>, found: Found): void {
  const add = (source: string | null | undefined, flags: string | null | undefined) => {
    if (typeof source !== 'string' || typeof flags !== 'string') {
      found.unknown.push(`${path}, at ${node.start}`)
      return
    }
    const key = `/${source}/${flags}`
    const known = found.patterns.get(key) ?? { source, flags, places: new Set() }
    known.places.add(path)
    found.patterns.set(key, known)
  }
  if (node.type === 'Literal' && node.regex) add(node.regex.pattern, node.regex.flags)
  if (node.type === 'NewExpression' || node.type === 'CallExpression') {
    if (node.callee.type !== 'Identifier' || node.callee.name !== 'RegExp') return
    const [source, flags] = node.arguments
    add(textOf(source, constants), flags ? textOf(flags, constants) : '')
  }
  // A schema of TypeBox; what has that name and no text is something else.
  if (node.type === 'Property' && node.key.type === 'Identifier' && node.key.name === 'pattern') {
    const source = textOf(node.value, constants)
    if (source !== null) add(source, '')
  }
}

/** The text of a literal, a constant, or a template of those; null when it is only known at run time. */
function textOf(node: AnyNode | null | undefined, constants: Map<string, string>): string | null {
  switch (node?.type) {
    case 'Literal':
      return ['string', 'number'].includes(typeof node.value) ? String(node.value) : null
    case 'Identifier':
      return constants.get(node.name) ?? null
    case 'TemplateLiteral': {
      const parts = node.expressions.map((part) => textOf(part, constants))
      const texts = node.quasis.map(({ value }, at) => `${value.cooked}${parts[at] ?? ''}`)
      return parts.includes(null) ? null : texts.join('')
    }
    default:
      return null
  }
}

function* nodesIn(value: unknown): Generator<AnyNode> {
  if (typeof value !== 'object' || value === null) return
  if ('type' in value) yield value as AnyNode
  for (const part of Object.values(value)) yield* nodesIn(part)
}
