import { createJobs } from '../../src/db/jobs.ts'

/** Jobs on real time, of a node that is alone. */
export const aloneJobs = createJobs({
  lease: async () => ({ held: () => true, release: async () => undefined }),
})

/** For a job that does not fail in this test. */
export function neverFails(cause: unknown): never {
  throw cause
}
