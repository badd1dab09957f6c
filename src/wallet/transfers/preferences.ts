import type { Static } from '@sinclair/typebox'
import { Refusal } from '../../base/refusal.ts'
import type { Caller } from '../../session/caller.ts'
import type { PreferencesModel } from './models.ts'
import type { Transfers } from './service.ts'

type Preferences = Static<typeof PreferencesModel>

/** The settings of the caller's account. Refuses `account-unknown`. */
export async function readPreferences(
  { database }: Transfers,
  { pubkey }: Caller,
): Promise<Preferences> {
  const account = await database.snapshot((tx) => tx.accounts.findByKey(pubkey))
  if (!account) throw new Refusal('account-unknown')
  return { allowVouchers: account.allowVouchers }
}

/** Change the settings of the caller's account. Refuses `account-unknown`. */
export async function writePreferences(
  { database }: Transfers,
  { pubkey, spend }: Caller,
  { allowVouchers }: Preferences,
): Promise<Preferences> {
  return database.transact({ roots: [{ holder: pubkey }], first: spend }, async (tx) => {
    if (!(await tx.accounts.allowVouchers(pubkey, allowVouchers))) {
      throw new Refusal('account-unknown')
    }
    return { allowVouchers }
  })
}
