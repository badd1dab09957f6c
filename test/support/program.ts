import { join } from 'node:path'

export const main = join(import.meta.dir, '../../src/main.ts')

const own = (file: string) => join(import.meta.dir, file)

/** The program under test: from source, or as `npm test` has built it (TEST_PROGRAM), which starts in a third of the time. */
export const program: readonly string[] =
  process.env.TEST_PROGRAM === undefined ? [process.execPath, main] : [process.env.TEST_PROGRAM]

/** Programs of the tests alone, built like it: programs.ts. */
const built = process.env.TEST_PROGRAMS

/** The program, which fails operations that write outside of their roots: checked-roots.ts. */
export const checkedProgram: readonly string[] =
  built === undefined
    ? [process.execPath, '--preload', own('checked-roots.ts'), main]
    : [built, 'checked']

/** The program, whose limits do not change with time: without-time.ts. */
export const timelessProgram: readonly string[] =
  built === undefined
    ? [process.execPath, '--preload', own('without-time.ts'), main]
    : [built, 'without-time']

/** The program, which folds its log often: short-log.ts. */
export const shortLogProgram: readonly string[] =
  built === undefined
    ? [process.execPath, '--preload', own('short-log.ts'), main]
    : [built, 'short-log']

/** The service with a way out to the loopback: loopback-child.ts. */
export const loopbackProgram: readonly string[] =
  built === undefined ? [process.execPath, own('loopback-child.ts')] : [built, 'loopback']
