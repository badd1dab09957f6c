import { createHash } from 'node:crypto'
import type { Bundle, PageName } from './bundle.ts'

/** A page, the same for everybody, and its strong validator. */
export type Page = { html: string; etag: string }

const titles: Record<PageName, string> = {
  panel: 'Cuponera · Panel',
  caja: 'Cuponera · Caja',
  c: 'Tu cupón',
}

/** What a page has to know of where it stands. */
export type PagePlace = {
  /** Where customers open coupons; null: where the page is. */
  couponOrigin: string | null
  /** Where a remote signer can be met when there is no relay inside; empty: nowhere that we know. */
  relay: string | null
  /** Of plain http beside a certificate that only the shop's own devices trust; else null. */
  httpPort: number | null
}

/** The shell of a page; its script fills it. */
export function createPage(name: PageName, bundle: Bundle, place: PagePlace): Page {
  const { scripts, preload } = bundle.pages[name]
  const [boot, main] = scripts
  const { couponOrigin, httpPort, relay } = place
  const attributes = [
    `data-page="${name}"`,
    ...(couponOrigin === null ? [] : [`data-coupon-origin="${new URL(couponOrigin).origin}"`]),
    ...(relay === null || name !== 'panel' ? [] : [`data-relay="${escaped(relay)}"`]),
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
${name === 'caja' ? '<link rel="manifest" href="/caja.webmanifest">\n' : ''}<link rel="stylesheet" href="${bundle.style}">
<script type="module" blocking="render" src="${boot}"></script>
${preload.map((file) => `<link rel="modulepreload" href="${file}">\n`).join('')}<script type="module" src="${main}"></script>
</head>
<body>
<div id="app"></div>
<noscript><p class="noscript">Esta página necesita JavaScript. · This page needs JavaScript.</p></noscript>
</body>
</html>
`
  return { html, etag: `"${createHash('sha256').update(html).digest('base64url').slice(0, 22)}"` }
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')
}

/** What a page may do; `host` is the Host header, for the relay of this service. */
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
  // Both scan: the till coupons, the panel the QR of a till.
  const camera = name === 'c' ? '()' : '(self)'
  return {
    'Content-Security-Policy': policy.join('; '),
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Permissions-Policy': `camera=${camera}, microphone=(), geolocation=(), payment=()`,
  }
}

/** A Host header is a stranger's text: only what a host and a port are made of gets into the policy. */
function ownSocket(host: string | null): string {
  return host !== null && /^([a-z0-9.-]+|\[[0-9a-f:]+\])(:\d{1,5})?$/i.test(host)
    ? ` ws://${host}`
    : ''
}
