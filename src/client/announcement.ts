/** A merchant's announcement: the event that tells other programs where to mint, claim and refresh. */
import { kinds } from '../nostr/kinds.ts'
import { anyone } from './anyone.ts'
import { ApiError } from './api-error.ts'
import type { Caller } from './caller.ts'
import type { Announced } from './models.ts'
import type { Session } from './session.ts'
import type { EventTemplate } from './signer.ts'

type Announcement = {
  /** The public origin of the service. */
  origin: string
  /** The key that signs the vouchers there. */
  manager: string
  /** The name of the program that announces. */
  client: string
  createdAt: number
}

/** The unsigned event (docs/api/announcement.md). The merchant signs it. */
export function announcementTemplate({
  origin,
  manager,
  client,
  createdAt,
}: Announcement): EventTemplate {
  const [mintUrl, claimUrl, refreshUrl] = ['mint', 'claim', 'refresh'].map(
    (last) => `${origin}/api/coupons/${last}`,
  )
  return {
    kind: kinds.announcement,
    created_at: createdAt,
    tags: [
      ['d', 'lacrypta.merchant/coupons'],
      ['p', manager],
      ['client', client],
    ],
    content: JSON.stringify({ v: 2, mintUrl, claimUrl, refreshUrl }),
  }
}

/** Sign an announcement and hand it to the service, which publishes it. Throws ApiError and SignerError. */
export async function announce(
  session: Caller & Pick<Session, 'needSigner'>,
  origin: string,
  createdAt: number,
): Promise<Announced> {
  const { pubkey: manager } = await anyone.call('GET /api/coupons/manager')
  const signer = await session.needSigner()
  const template = announcementTemplate({ origin, manager, client: 'Cuponera', createdAt })
  const body = { event: await signer.sign(template) }
  return session.call('PUT /api/coupons/discovery', { body })
}

/** Stop publishing the announcement. */
export async function withdraw(caller: Caller): Promise<void> {
  await caller.call('DELETE /api/coupons/discovery')
}

export type RelayState = {
  url: string
  status: 'pending' | 'delivered' | 'refused' | 'expired'
  lastError: string | null
}

/**
 * The state of a published event at each relay: none where the service has forgotten the event, null where it did
 * not answer.
 */
export async function fetchDelivery(eventId: string): Promise<RelayState[] | null> {
  try {
    return (await anyone.call('GET /nostr/publish/{id}', { path: { id: eventId } })).relays
  } catch (cause) {
    if (!(cause instanceof ApiError)) throw cause
    // A gateway may refuse the look, too, and knows nothing of the event.
    return cause.code === 'event-unknown' ? [] : null
  }
}
