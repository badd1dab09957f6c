import { signal } from '@preact/signals'

/** The view in the fragment: `#/coupons/01a1…` is `['coupons', '01a1…']`. */
export const route = signal(parseRoute())

/** Go to a view, as a new entry of the history. */
export function go(...parts: string[]): void {
  location.hash = hrefTo(...parts)
}

export function hrefTo(...parts: string[]): string {
  return `#/${parts.map(encodeURIComponent).join('/')}`
}

/** Keep `route` equal to the address. */
export function followRoute(): void {
  window.addEventListener('hashchange', () => {
    route.value = parseRoute()
    window.scrollTo(0, 0)
    // A screen reader learns of the new view by its heading, which is rendered by then.
    setTimeout(() => {
      const main = document.getElementById('main')
      const heading = main?.querySelector('h1')
      if (heading) heading.tabIndex = -1
      const target = heading ?? main
      target?.focus({ preventScroll: true })
      // After a step back in the history, the browser restores the scroll of the view before.
      window.scrollTo(0, 0)
    })
  })
}

function parseRoute(): string[] {
  const [, ...parts] = location.hash.split('/')
  try {
    return parts.filter((part) => part !== '').map(decodeURIComponent)
  } catch (cause) {
    // A truncated or mistyped address leads to the first view.
    if (cause instanceof URIError) return []
    throw cause
  }
}
