/**
 * Loaded with `--preload` where the tests of test/postgres are only counted, as on a machine that cannot run a server:
 * what a file asks of one before its tests is nothing.
 */
import { mock } from 'bun:test'
import { join } from 'node:path'

const nothing: unknown = new Proxy(() => undefined, {
  get: (_, name) => {
    if (name === 'then') return undefined
    return name === Symbol.toPrimitive ? () => '' : nothing
  },
  apply: () => nothing,
})

mock.module(join(import.meta.dir, 'postgres-databases.ts'), () => ({
  openDatabases: async () => nothing,
}))
