import { limits } from '../base/limits.ts'
import { Refusal } from '../base/refusal.ts'
import {
  contentObject,
  eventId,
  type NostrEvent,
  parseEvent,
  tagValue,
  type VerifyEvent,
} from '../nostr/event.ts'
import { kinds } from '../nostr/kinds.ts'

/** Values that an announcement is checked against. Keys in hex, `now` in Unix seconds. */
export type AnnouncementContext = {
  author: string
  manager: string
  /** Origins under which this service is reached, such as `https://cupones.example`. */
  origins: readonly string[]
  now: number
  verify: VerifyEvent
}

/** Every code of a remark. Wallets and tills compare them. */
export const warningCodes = [
  'other-d',
  'other-version',
  'no-manager',
  'other-manager',
  'no-mintUrl',
  'other-mintUrl',
  'no-claimUrl',
  'other-claimUrl',
  'no-refreshUrl',
  'other-refreshUrl',
] as const
type WarningCode = (typeof warningCodes)[number]

/** A remark for the merchant about an announcement that was accepted. */
type Warning = { code: WarningCode; message: string }

const recommendedD = 'lacrypta.merchant/coupons'
const addressNames = ['mintUrl', 'claimUrl', 'refreshUrl'] as const
const paths = {
  mintUrl: '/api/coupons/mint',
  claimUrl: '/api/coupons/claim',
  refreshUrl: '/api/coupons/refresh',
} as const

/**
 * Check an announcement (kind 30078) that a merchant signed. Refuses `field-invalid`, then the
 * `announcement-…` codes. The order is part of the protocol.
 */
export function parseAnnouncement(
  value: unknown,
  context: AnnouncementContext,
): { event: NostrEvent; warnings: Warning[] } {
  const event = parseEvent(value)
  if (!event) throw new Refusal('field-invalid', { field: 'event' })
  if (event.kind !== kinds.announcement) throw new Refusal('announcement-kind')
  if (event.pubkey !== context.author) throw new Refusal('announcement-author')
  if (eventId(event) !== event.id) throw new Refusal('announcement-id')
  if (!context.verify(event)) throw new Refusal('announcement-signature')
  if (tagValue(event, 'd') === undefined) throw new Refusal('announcement-d')
  const content = contentObject(event.content)
  if (!content) throw new Refusal('announcement-content')
  for (const name of addressNames) requireHttps(content[name], name, context.origins)
  if (event.created_at > context.now + limits.announcementAheadSeconds) {
    throw new Refusal('announcement-future')
  }
  return { event, warnings: warn(event, content, context) }
}

/** Refuse plain http, except for loopback addresses and for the origins that the operator configured. */
function requireHttps(value: unknown, field: string, origins: readonly string[]): void {
  if (value === undefined || value === null) return
  const url = typeof value === 'string' ? URL.parse(value) : null
  const plain =
    url?.protocol === 'http:' && (isLoopback(url.hostname) || hosts(origins).has(url.host))
  if (!url || (url.protocol !== 'https:' && !plain)) {
    throw new Refusal('announcement-url', { field: `event.content.${field}` })
  }
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname)
}

function hosts(origins: readonly string[]): Set<string> {
  return new Set(origins.flatMap((origin) => URL.parse(origin)?.host ?? []))
}

/** Remarks about an announcement that tills may not find or not trust. In es-AR, for the merchant. */
function warn(
  event: NostrEvent,
  content: Record<string, unknown>,
  context: AnnouncementContext,
): Warning[] {
  const warnings: Warning[] = []
  const add = (code: WarningCode, message: string) => warnings.push({ code, message })
  if (tagValue(event, 'd') !== recommendedD) {
    add(
      'other-d',
      `La etiqueta d no es «${recommendedD}»: las cajas pueden no encontrar el anuncio.`,
    )
  }
  if (content.v !== 2) add('other-version', 'La versión (v) no es 2: las cajas pueden no leerlo.')
  const managers = event.tags.filter((tag) => tag[0] === 'p').map((tag) => tag[1])
  if (managers.length === 0) {
    add('no-manager', 'Falta la etiqueta p con la clave de este servicio.')
  } else if (managers[0] !== context.manager) {
    add(
      'other-manager',
      'La etiqueta p no es la clave de este servicio: las cajas van a desconfiar.',
    )
  }
  for (const name of addressNames) {
    const value = content[name]
    if (value === undefined || value === null) {
      add(`no-${name}`, `Falta ${name}: las cajas no van a saber a dónde llamar.`)
    } else if (!ours(String(value), paths[name], context.origins)) {
      add(`other-${name}`, `${name} no es una dirección de este servicio.`)
    }
  }
  return warnings
}

function ours(value: string, path: string, origins: readonly string[]): boolean {
  const url = URL.parse(value)
  if (!url) return false
  return origins.some((origin) => URL.parse(path, origin)?.href === url.href.replace(/\/$/, ''))
}
