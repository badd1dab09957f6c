/** Handing a link over: the system's own sheet where a page may open it, else the clipboard. */

/** The address of a coupon. What follows the # never leaves the browser that opens it. */
export function couponLink(nonce: string): string {
  return `${couponOrigin()}/c#${nonce}`
}

/**
 * Where customers open a coupon: the public address of the service, when it has one. With a certificate of
 * the shop's own it is plain http, since their phones do not trust it. Else where this page is.
 */
function couponOrigin(): string {
  const { couponOrigin: known, httpPort } = document.documentElement.dataset
  if (known) return known
  const { protocol, hostname, origin } = location
  return protocol === 'https:' && httpPort ? `http://${hostname}:${httpPort}` : origin
}

/** Whether the links open on this very device only, and on no phone. */
export function localOrigin(): boolean {
  const { hostname } = new URL(couponOrigin())
  return /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)
}

export function canShare(): boolean {
  return 'share' in navigator
}

/** How it went; `shown` when the page may do neither and the person has to copy it. */
export async function shareLink(
  title: string,
  url: string,
): Promise<'shared' | 'copied' | 'shown'> {
  if (canShare()) {
    try {
      await navigator.share({ title, url })
      return 'shared'
    } catch (cause) {
      // Closed without choosing: nothing more is wanted.
      if (cause instanceof DOMException && cause.name === 'AbortError') return 'shared'
      if (!(cause instanceof DOMException)) throw cause
    }
  }
  try {
    // Not there on plain http, whatever the types say.
    if (!window.isSecureContext) return 'shown'
    await navigator.clipboard.writeText(url)
    return 'copied'
  } catch (cause) {
    if (cause instanceof DOMException) return 'shown'
    throw cause
  }
}
