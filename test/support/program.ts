import { join } from 'node:path'

export const main = join(import.meta.dir, '../../src/main.ts')

/** The program under test: from source, or as `npm test` has built it (TEST_PROGRAM), which starts in a third of the time. */
export const program: readonly string[] =
  process.env.TEST_PROGRAM === undefined ? [process.execPath, main] : [process.env.TEST_PROGRAM]
