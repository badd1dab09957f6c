import { etagOf } from '../http/etag.ts'
import type { Admission } from '../merchants/service.ts'
import type { Bundle, PageName } from './bundle.ts'

/** A page, the same for every visitor of the moment, and its strong validator. */
type Page = { html: string; etag: string }

const titles: Record<PageName, string> = {
  panel: 'Cuponera · Panel',
  caja: 'Cuponera · Caja',
  c: 'Tu cupón',
  docs: 'Cuponera · API',
}

/** Addresses and settings of this service that a page needs. */
export type PagePlace = {
  /** The origin at which customers open coupons; null: the page's own. */
  couponOrigin: string | null
  /** A relay for remote signers; null where this service has its own, empty where none is known. */
  relay: string | null
  /** The port of plain http, where only the shop's own devices trust the certificate of https; else null. */
  httpPort: number | null
  /** The rule by which keys may manage, so that the panel does not ask in vain; null where nobody manages. */
  admission: Admission | null
}

const keyless: ReadonlySet<PageName> = new Set(['c', 'docs'])

/** The documentation without a script. */
const textPages =
  '<a href="/openapi.html?lang=es" lang="es" hreflang="es">La referencia de la API, como texto</a> · <a href="/openapi.html?lang=en" lang="en" hreflang="en">The API reference, as text</a>'

/** The bundle without the texts of its files. */
export type Shell = Omit<Bundle, 'files'>

/** The empty page; its script fills it. */
export function createPage(name: PageName, bundle: Shell, place: PagePlace): Page {
  const { scripts, parts, style } = bundle.pages[name]
  const [boot, main] = scripts
  // Scripts too: where the service worker answers, a browser may fetch a preloaded module again.
  const modules = [...parts, main].map((file) => `<script type="module" src="${file}"></script>`)
  const { admission, couponOrigin, httpPort, relay } = place
  const attributes = [
    `data-page="${name}"`,
    ...(couponOrigin === null ? [] : [`data-coupon-origin="${new URL(couponOrigin).origin}"`]),
    ...(relay === null || name !== 'panel' ? [] : [`data-relay="${escaped(relay)}"`]),
    ...(admission === null || name !== 'panel' ? [] : [`data-admission="${admission}"`]),
    // The coupon page and the documentation have no key.
    ...(keyless.has(name) ? [] : [`data-key-worker="${bundle.keyWorker}"`]),
    ...(httpPort === null ? [] : [`data-http-port="${httpPort}"`]),
  ]
  const html = `<!doctype html>
<html lang="es-AR" ${attributes.join(' ')}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${titles[name]}</title>
<link rel="icon" href="${bundle.icons.drawn}" type="image/svg+xml">
<link rel="apple-touch-icon" href="${bundle.icons.apple}">
${name === 'caja' ? '<link rel="manifest" href="/caja.webmanifest">\n' : ''}<link rel="stylesheet" href="${style}">
<script type="module" blocking="render" src="${boot}"></script>
${modules.join('\n')}
</head>
<body>
<div id="app"></div>
<noscript><p class="noscript">${name === 'docs' ? textPages : 'Esta página necesita JavaScript. · This page needs JavaScript.'}</p></noscript>
</body>
</html>
`
  return { html, etag: etagOf(html) }
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')
}

/** The rights of a page. `host`: the Host header, since the relay of this service has the same host. */
export function securityHeaders(name: PageName, host: string | null): Record<string, string> {
  // Only the panel talks to relays: a remote signer (NIP-46) answers over one.
  const relays = name === 'panel' ? ` wss:${ownSocket(host)}` : ''
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    "media-src 'self' blob:",
    "font-src 'self'",
    `connect-src 'self'${relays}`,
    "worker-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ]
  // The till scans coupons, the panel the QR of a till; the coupon page scans nothing.
  // Both print tickets on a printer of their device.
  const devices = keyless.has(name) ? '()' : '(self)'
  return {
    'Content-Security-Policy': policy.join('; '),
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Permissions-Policy': `camera=${devices}, usb=${devices}, serial=${devices}, microphone=(), geolocation=(), payment=()`,
  }
}

/** A Host header is untrusted: only a well-formed host and port get into the policy. */
function ownSocket(host: string | null): string {
  return host !== null && /^([a-z0-9.-]+|\[[0-9a-f:]+\])(:\d{1,5})?$/i.test(host)
    ? ` ws://${host}`
    : ''
}
