import { Refusal, type RefusalCode } from '../../src/base/refusal.ts'

/** What a function refuses with; a fault is thrown on, no refusal at all is `null`. */
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
