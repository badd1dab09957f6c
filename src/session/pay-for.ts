import { countOnce } from '../base/count-once.ts'
import type { Caller } from './caller.ts'

/**
 * The caller, charged once when its signature is spent, and at once in a session. An overheard signature that
 * is sent again is refused before that, so it does not use up the rate of the key. Build one a request.
 */
export function payFor(caller: Caller, pay: () => void): Caller {
  const { spend } = caller
  if (!spend) {
    pay()
    return caller
  }
  const payOnce = countOnce(pay)
  const spendAndPay = async (tx: Parameters<typeof spend>[0]) => {
    await spend(tx)
    payOnce()
  }
  return { ...caller, spend: spendAndPay }
}
