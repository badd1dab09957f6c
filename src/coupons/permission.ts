import { Refusal } from '../base/refusal.ts'
import type { Caller } from '../session/caller.ts'
import type { StoredDefinition } from './definition-store.ts'
import type { CouponStores } from './service.ts'

/** The caller's own definition. Refuses `coupon-unknown`, also for another merchant's, whose existence is private. */
export async function ownDefinition(
  tx: Pick<CouponStores, 'definitions'>,
  caller: Caller,
  id: string,
): Promise<StoredDefinition> {
  const definition = await tx.definitions.find(id)
  if (definition?.owner !== caller.pubkey) throw new Refusal('coupon-unknown')
  return definition
}
