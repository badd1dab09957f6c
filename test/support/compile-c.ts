import { join, parse } from 'node:path'
import { newDirectory } from './server.ts'

/** The reason why no C can be compiled here, or null. */
export function whyNoCompiler(): string | null {
  return Bun.which('cc') === null ? 'no C compiler (cc) is installed: this needs one' : null
}

/** Compile a file of C, and return the path of what it became. Warnings are errors. */
export function compileC(source: string, options: readonly string[]): string {
  const made = join(newDirectory(), parse(source).name)
  const compiler = ['cc', '-Wall', '-Wextra', '-Werror', ...options, '-o', made]
  const { exitCode, stderr } = Bun.spawnSync([...compiler, source])
  if (exitCode !== 0) throw new Error(`cc: ${stderr.toString()}`)
  return made
}
