import { ApiError } from '../../client/api-error.ts'
import { listMerchants } from '../../client/management.ts'
import type { Merchant } from '../../client/models.ts'
import { session } from './state.ts'

/** The key that may not list the merchants: the owner does not change while the service runs. */
let refused: string | null = null

/** The rule by which this service lets keys manage. */
export function admission(): string | undefined {
  return document.documentElement.dataset.admission
}

/** The merchants of this service, newest first. Null where there is no list, or not for this key. */
export async function loadRoster(): Promise<Merchant[] | null> {
  const pubkey = session.who.value?.pubkey ?? null
  if (admission() !== 'let-in' || (refused !== null && refused === pubkey)) return null
  try {
    return await listMerchants(session)
  } catch (cause) {
    if (!(cause instanceof ApiError)) throw cause
    if (cause.code === 'merchants-owner-only') refused = pubkey
    return null
  }
}
