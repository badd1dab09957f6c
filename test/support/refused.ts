import { Refusal, type RefusalCode } from '../../src/base/refusal.ts'

type Refused = { code: RefusalCode; field?: string }

/** The code that a function refuses with; null when it does not. A fault is thrown on. */
export function refusalOf(run: () => unknown): Refused | null {
  try {
    run()
    return null
  } catch (cause) {
    return refusedIn(cause)
  }
}

/** The same of one that answers later. */
export async function refusalSoon(run: () => Promise<unknown>): Promise<Refused | null> {
  try {
    await run()
    return null
  } catch (cause) {
    return refusedIn(cause)
  }
}

function refusedIn(cause: unknown): Refused {
  if (!(cause instanceof Refusal)) throw cause
  const { field } = cause.detail
  return field === undefined ? { code: cause.code } : { code: cause.code, field }
}
