/** Handing a link over: the system's own sheet where a page may open it, else the clipboard. */

/** The address of a coupon. What follows the # never leaves the browser that opens it. */
export function couponLink(nonce: string): string {
  return `${location.origin}/c#${nonce}`
}

/** Whether a phone could open an address of this page's origin. */
export function localOrigin(): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(location.hostname)
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
