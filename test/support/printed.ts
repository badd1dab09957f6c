/** Blocks of the pages, and a place where one runs as it is printed. */
import { expect } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { call } from './client.ts'
import { program } from './program.ts'
import { newDirectory } from './server.ts'

export const root = join(import.meta.dir, '../..')
export const readText = (path: string) => readFileSync(join(root, path), 'utf8')

/** The blocks of a page with the language that each names. */
export function blocksOf(page: string): { language: string; text: string }[] {
  return [...readText(page).matchAll(/^ *```(\w+)\n([\s\S]*?)^ *```$/gm)].map(
    ([, language = '', text = '']) => ({ language, text }),
  )
}

/** The block of a page that has this text. */
export function blockWith(page: string, text: string): string {
  const found = blocksOf(page).filter((block) => block.text.includes(text))
  expect({ page, text, found: found.length }).toEqual({ page, text, found: 1 })
  return found[0]?.text ?? ''
}

/** `here` is called for each place where it is printed. */
export type Replacement = readonly [printed: string, here: () => string]

/** Run a block in one shell, each line to a good end. Resolves to what it printed. */
export async function runBlock(
  block: string,
  place: { cwd: string; env: Record<string, string> },
  replacements: readonly Replacement[] = [],
): Promise<string> {
  const text = replacements.reduce((made, [from, to]) => made.replaceAll(from, to), block)
  const shell = Bun.spawn(['sh', '-eu', '-c', text], { ...place, stdin: 'ignore', stderr: 'pipe' })
  const [out, err] = await Promise.all([
    new Response(shell.stdout).text(),
    new Response(shell.stderr).text(),
  ])
  expect({ block, code: await shell.exited, err }).toMatchObject({ block, code: 0 })
  return out
}

/** A folder with the program, in which blocks run. A server is stopped with Ctrl-C once it has printed its start. */
export function openDesk(env: Record<string, string>) {
  const desk = newDirectory()
  const command = program.map((part) => `'${part}'`).join(' ')
  const script = `#!/bin/sh
[ "$1" = serve ] || exec ${command} "$@"
true > "$0.out" # of a server before
${command} "$@" > "$0.out" 2>&1 & pid=$!
until grep -q '^  management' "$0.out"; do kill -0 $pid || { cat "$0.out" >&2; exit 1; }; sleep 0.1; done
cat "$0.out"; kill -INT $pid; wait $pid || [ $? = 130 ]
`
  writeFileSync(join(desk, 'cuponera'), script, { mode: 0o755 })
  const place = { cwd: desk, env: { PATH: `${desk}:${process.env.PATH}`, PORT: '0', ...env } }
  const run = (block: string, ...replacements: Replacement[]) =>
    runBlock(block, place, replacements)
  return { desk, run }
}

/** The names in the first column of a table that begins with `metric` or `alert`. */
export function namesIn(text: string, head: string): string[] {
  const [, rows = ''] =
    new RegExp(`^\\| ${head} \\|.*\\n\\|.*\\n((?:\\|.*\\n)+)`, 'm').exec(text) ?? []
  return rows
    .split('\n')
    .flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`(\w+)`/g)])
    .map(([, name = '']) => name)
}

/** Name and type of each metric of a server. */
export async function metricsOf(url: string): Promise<Map<string, string>> {
  const { text } = await call(url, '/metrics')
  return new Map(
    [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name = '', type = '']) => [name, type]),
  )
}
