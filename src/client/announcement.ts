/** A merchant's announcement: the event that tells other programs where to mint, claim and refresh. */
import { kinds } from '../nostr/kinds.ts'
import { request, requestAs } from './api.ts'
import type { Announced, Manager } from './models.ts'
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

const discovery = '/api/coupons/discovery'

/** Sign an announcement and hand it to the service, which publishes it. Throws ApiError and SignerError. */
export async function announce(
  session: Session,
  origin: string,
  createdAt: number,
): Promise<Announced> {
  const { pubkey: manager } = await request<Manager>('/api/coupons/manager')
  const signer = await session.needSigner()
  const template = announcementTemplate({ origin, manager, client: 'Cuponera', createdAt })
  const body = { event: await signer.sign(template) }
  return requestAs(session, discovery, { method: 'PUT', body })
}

/** Stop publishing the announcement. */
export async function withdraw(session: Session): Promise<void> {
  await requestAs(session, discovery, { method: 'DELETE' })
}

export type RelayState = {
  url: string
  status: 'pending' | 'delivered' | 'refused' | 'expired'
  lastError: string | null
}

/** The state of a published event at each relay. */
export async function fetchDelivery(eventId: string): Promise<RelayState[]> {
  return (await request<{ relays: RelayState[] }>(`/nostr/publish/${eventId}`)).relays
}
