import { ApiError } from '../../src/client/index.ts'

/** The ApiError of a call of the client. Throws any other error, and one if the call succeeds. */
export async function failureOf(work: Promise<unknown>): Promise<ApiError> {
  try {
    await work
  } catch (cause) {
    if (cause instanceof ApiError) return cause
    throw cause
  }
  throw new Error('it did not fail')
}
