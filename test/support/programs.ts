/** Programs of the tests in one executable file, as `npm test` builds it: the first argument names one. */
import { argv } from 'node:process'

const [program] = argv.splice(2, 1)
if (program === 'checked') {
  await import('./checked-roots.ts')
  await import('../../src/main.ts')
} else if (program === 'without-time') {
  await import('./without-time.ts')
  await import('../../src/main.ts')
} else if (program === 'short-log') {
  await import('./short-log.ts')
  await import('../../src/main.ts')
} else if (program === 'loopback') await import('./loopback-child.ts')
else throw new Error(`no program of the tests is called ${program}`)
