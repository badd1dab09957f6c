/** Sharing of links: by the system's dialog where a page may open it, else by the clipboard. */
import { hostReach, type Reach } from './host-reach.ts'

/** The address of a coupon. Browsers never send a fragment, so the nonce reaches no server log. */
export function couponLink(nonce: string): string {
  return `${couponOrigin()}/c#${nonce}`
}

/** The address of a poster, where a visitor takes a coupon. */
export function posterLink(id: string): string {
  return `${couponOrigin()}/c/p/${id}`
}

/**
 * The origin at which customers open a coupon: the public one of the service, if it has one. With the shop's
 * own certificate it is plain http, since customers' phones do not trust that. Else the origin of this page.
 */
function couponOrigin(): string {
  const { couponOrigin: known, httpPort } = document.documentElement.dataset
  if (known) return known
  const { protocol, hostname, origin } = location
  return protocol === 'https:' && httpPort ? `http://${hostname}:${httpPort}` : origin
}

/** The devices that can open the link of a coupon. */
export function linkReach(): Reach {
  return hostReach(new URL(couponOrigin()).hostname)
}

/**
 * The address that opens WhatsApp, in its app or in the browser. Without the digits of an international number,
 * the person chooses the recipient there. Half a character, such as a cut emoji, is left out: no URL can hold it.
 */
export function whatsappLink(text: string, digits = ''): string {
  return `https://wa.me/${digits}?text=${encodeURIComponent(text.replace(/\p{Surrogate}/gu, ''))}`
}

export function canShare(): boolean {
  return 'share' in navigator
}

/**
 * Share or copy a link; `shown` where the page may do neither, so the person has to copy it. A person who closes the
 * dialog gets no second attempt by the clipboard.
 */
export async function shareLink(
  title: string,
  url: string,
): Promise<'shared' | 'closed' | 'copied' | 'shown'> {
  const went = canShare() ? await shareBySystem({ title, url }) : 'refused'
  if (went !== 'refused') return went
  try {
    // On plain http the clipboard does not exist, though its type says so.
    if (!window.isSecureContext) return 'shown'
    await navigator.clipboard.writeText(url)
    return 'copied'
  } catch (cause) {
    if (cause instanceof DOMException) return 'shown'
    throw cause
  }
}

/** Whether the system's dialog takes pictures. */
export function canSharePictures(): boolean {
  const trial = { files: [new File([], 'x.png', { type: 'image/png' })] }
  return 'canShare' in navigator && navigator.canShare(trial)
}

/** Share by the system's dialog; `closed`: the person closed it, so nothing left the device. */
export async function shareBySystem(shared: ShareData): Promise<'shared' | 'closed' | 'refused'> {
  try {
    await navigator.share(shared)
    return 'shared'
  } catch (cause) {
    if (!(cause instanceof DOMException)) throw cause
    return cause.name === 'AbortError' ? 'closed' : 'refused'
  }
}
