import { Refusal, type RefusalCode } from '../../src/base/refusal.ts'

/** The code that a function refuses with; null when it does not. A fault is thrown on. */
export function refusalOf(run: () => unknown): { code: RefusalCode; field?: string } | null {
  try {
    run()
    return null
  } catch (refused) {
    if (!(refused instanceof Refusal)) throw refused
    const { field } = refused.detail
    return field === undefined ? { code: refused.code } : { code: refused.code, field }
  }
}
