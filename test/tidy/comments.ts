/** Comments: the names in them exist, and their sentences begin with a noun. */
import { expect, test } from 'bun:test'
import { allFiles, readText } from './tree.ts'

type Comment = { path: string; line: number; text: string }

const written = allFiles.filter((path) => /\.(tsx?|mjs|sql)$/.test(path))
const parts = written.map((path) => ({ path, ...split(path) }))
const comments = parts.flatMap(({ path, comments }) =>
  comments.map((comment) => ({ path, ...comment })),
)
/** Code, pages and configuration, without a comment in them. */
const code = [
  ...parts.filter(({ path }) => path !== 'test/tidy/comments.ts').map((part) => part.code),
  ...allFiles
    .filter((path) => /\.(json|css|html|toml)$|^Dockerfile$/.test(path))
    .filter((path) => path !== 'package-lock.json')
    .map(readText),
].join('\n')
const words = new Set(code.match(/[\w-]+/g)?.flatMap((word) => [word, ...word.split('-')]))

// In backticks, a comment names: a file or folder; an identifier, also `a.b` and `f()`; a word with
// hyphens; a flag; a setting with its value; a command. The rest are values and examples.
test('every name in backticks in a comment exists', () => {
  const unknown = comments.flatMap(({ path, line, text }) =>
    [...text.matchAll(/`([^`\n]+)`/g)]
      .map(([, name]) => name as string)
      .filter((name) => !exists(name))
      .map((name) => `${path}:${line}: ${name}`),
  )
  expect(unknown).toEqual([])
})

test('a name that is nowhere is found out, and an example is left alone', () => {
  const gone = [
    'noSuchName',
    'voucher.noSuchField',
    'noSuchCall()',
    'no-such-code',
    'no/such-file.ts',
  ]
  const others = [
    'NO_SUCH_SETTING=1',
    '--no-such-flag',
    'cuponera no-such-command',
    'no-such-folder/',
  ]
  expect([...gone, ...others].filter(exists)).toEqual([])
  const there = ['transact', 'tx.afterCommit', 'parseText()', 'voucher-unknown', 'db/sql.ts', 'db/']
  const more = ['RATE_LIMIT=off', '--public-url', 'cuponera check', '25 %', '2x1', '/metrics']
  expect([...there, ...more].filter((name) => !exists(name))).toEqual([])
})

test('no comment and no test name begins with What, Who, Whoever, Whatever or Whose', () => {
  const tests = allFiles.filter((path) => /^test\/.*\.tsx?$/.test(path))
  expect([
    ...comments
      .filter(({ path, text }) => !kept(path, text) && nounless.test(text))
      .map(({ path, line, text }) => `${path}:${line}: ${text.trim().split('\n')[0]}`),
    ...tests.flatMap((path) =>
      [...readText(path).matchAll(testName)].map(([, name]) => `${path}: ${name}`),
    ),
  ]).toEqual([])
})

const nounless = /^[\s/*-]*(what|who|whoever|whatever|whose)\b/i
/** The name of a test or of a group, also behind a table. */
const testName =
  /\b(?:test|it|describe)(?:\.each\b[\s\S]*?\)|)\(\s*['"`]((?:what|who|whoever|whatever|whose)\b[^\n]*)/gi

/**
 * Comments that are data: the engine keeps those inside of a statement with its table, so an older
 * file would have others; and a schema of the past is as it was.
 */
function kept(path: string, text: string): boolean {
  return path === 'test/support/schema-15.sql' || (path.endsWith('.sql') && /^\s/.test(text))
}

function exists(name: string): boolean {
  if (/^[.\w-]+(\/[\w.-]+)*\.(tsx?|mjs|sql|md|json|html|css)$/.test(name)) {
    return allFiles.some((path) => `/${path}`.endsWith(`/${name}`))
  }
  if (/^([\w-]+\/)+$/.test(name)) return allFiles.some((path) => `/${path}`.includes(`/${name}`))
  const [, setting] = /^([A-Z][A-Z0-9_]+)=\S*$/.exec(name) ?? []
  if (setting !== undefined) return words.has(setting)
  const [, flag] = /^--([a-z-]+)$/.exec(name) ?? []
  if (flag !== undefined)
    return words.has(flag) || words.has(flag.toUpperCase().replaceAll('-', '_'))
  const [, command] = /^cuponera ([a-z-]+)$/.exec(name) ?? []
  if (command !== undefined) return words.has(command)
  if (/^[a-z0-9]+(-[a-z0-9]+)+$/i.test(name)) return words.has(name)
  if (!/^[a-z_]\w*(\.[a-z_]\w*)*(\(\))?$/i.test(name)) return true
  return name
    .replace('()', '')
    .split('.')
    .every((word) => words.has(word))
}

/** The comments of a file, lines that follow each other as one, and its code without them. */
function split(path: string): { comments: Omit<Comment, 'path'>[]; code: string } {
  const text = readText(path)
  const comment = path.endsWith('.sql')
    ? /(?:^[ \t]*--.*\n)+|--.*/gm
    : /(?<=^|[\s({,])\/\*[\s\S]*?\*\/|(?:^[ \t]*\/\/.*\n)+|(?<=\s)\/\/.*/gm
  const comments = [...text.matchAll(comment)].map((match) => ({
    line: text.slice(0, match.index).split('\n').length,
    text: match[0],
  }))
  return { comments, code: text.replace(comment, '') }
}
