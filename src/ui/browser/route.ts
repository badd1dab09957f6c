import { signal } from '@preact/signals'

/** Where the page is, from its fragment: `#/coupons/01a1…` is `['coupons', '01a1…']`. */
export const route = signal(parseRoute())

/** Go somewhere in this page; the browser's back button comes back. */
export function go(...parts: string[]): void {
  location.hash = hrefTo(...parts)
}

export function hrefTo(...parts: string[]): string {
  return `#/${parts.map(encodeURIComponent).join('/')}`
}

/** Follow the address from now on. */
export function followRoute(): void {
  window.addEventListener('hashchange', () => {
    route.value = parseRoute()
    window.scrollTo(0, 0)
    // A new page for eyes is a new page for ears; by then its heading is there.
    setTimeout(() => {
      const main = document.getElementById('main')
      const heading = main?.querySelector('h1')
      if (heading) heading.tabIndex = -1
      const target = heading ?? main
      target?.focus({ preventScroll: true })
    })
  })
}

function parseRoute(): string[] {
  const [, ...parts] = location.hash.split('/')
  try {
    return parts.filter((part) => part !== '').map(decodeURIComponent)
  } catch (cause) {
    // An address that was cut off or mistyped leads to the beginning.
    if (cause instanceof URIError) return []
    throw cause
  }
}
