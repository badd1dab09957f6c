/** Programs that the pages for operators configure: installed ones, else those of `.tools/programs.ts`. */
import { findProgram as find, type ProgramName } from '../../.tools/programs.ts'

/** Where a program is; null, with a line that says so, where a machine has none that runs. */
export function findProgram(name: ProgramName, what: string): string | null {
  const path = find(name)
  if (path === null) {
    console.log(`left out: ${what} (no ${name}; bun .tools/programs.ts gets it from Debian)`)
  }
  return path
}
