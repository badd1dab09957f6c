import { limits } from '../base/limits.ts'
import { Refusal } from '../base/refusal.ts'
import type { First } from '../db/database.ts'
import { npubOf } from '../nostr/keys.ts'
import type { Caller } from '../session/caller.ts'
import { codeOf, sameCode } from './code.ts'
import type { MerchantStores, Merchants } from './service.ts'

/**
 * Admit the caller as the first merchant, for the setup code that the operator was shown, and burn the code.
 * Refuses `setup-code-wrong` for another code, for a used one, and if there is none.
 */
export async function setUp(merchants: Merchants, { pubkey, spend }: Caller, typed: string) {
  const { tryCode, right } = tryOf(merchants, typed, spend)
  return merchants.database.transact({ roots: ['roster'], first: tryCode }, async (tx) => {
    if (!right() || !(await tx.merchants.burnCode())) throw new Refusal('setup-code-wrong')
    const createdAt = merchants.now()
    await tx.merchants.put({ pubkey, label: null, owner: true, createdAt, expiresAt: null })
    tx.afterCommit(() => merchants.happened({ type: 'admitted', pubkey, by: 'code' }))
    return { pubkey, npub: npubOf(pubkey) }
  })
}

/** Refuse `setup-code-wrong` for a wrong code. A right one stays valid. */
export async function requireSetupCode(merchants: Merchants, typed: string): Promise<void> {
  const { tryCode, right } = tryOf(merchants, typed)
  await merchants.database.transact({ roots: ['roster'], first: tryCode }, async () => {
    if (!right()) throw new Refusal('setup-code-wrong')
  })
}

/** Check a typed code, and count a wrong one. */
function tryOf(merchants: Merchants, typed: string, spend?: Caller['spend']) {
  let right = false
  // Outside of the part that a refusal undoes, so that a wrong try always counts.
  const tryCode: First<MerchantStores> = async (tx) => {
    await spend?.(tx)
    right = false
    const code = merchants.admission() === 'let-in' ? await tx.merchants.code() : null
    if (code === null) return
    right = sameCode(typed, codeOf(merchants.storeKey, code.salt))
    if (right) return
    await tx.merchants.countTry()
    if (code.tries + 1 < limits.setupTriesMax) return
    await tx.merchants.setCode(merchants.newSalt())
    tx.afterCommit(() => merchants.happened({ type: 'code-replaced' }))
  }
  return { tryCode, right: () => right }
}
