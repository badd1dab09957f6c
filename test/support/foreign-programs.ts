/** Programs that the pages for operators configure: installed ones, else those of `.tools/programs.mjs`. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'

const fetched = join(import.meta.dir, '../../.native')

/** Where a program is; null, with a line that says so, where a machine has none. */
export function findProgram(name: string, what: string): string | null {
  const PATH = `${process.env.PATH}:/usr/sbin`
  const path = Bun.which(name, { PATH }) ?? join(fetched, name, name)
  if (existsSync(path)) return path
  console.log(`left out: ${what} (no ${name}; node .tools/programs.mjs gets it from Debian)`)
  return null
}
