import type { Leases } from '../../src/db/database.ts'
import { createJobs } from '../../src/db/jobs.ts'

/** Leases of a node that is alone. */
export const alone: Leases = {
  lease: async () => ({ held: () => true, release: async () => undefined }),
}

/** Jobs on real time, of a node that is alone. */
export const aloneJobs = createJobs(alone)

/** For a job that does not fail in this test. */
export function neverFails(cause: unknown): never {
  throw cause
}
