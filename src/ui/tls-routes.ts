import { Refusal } from '../base/refusal.ts'
import { Elysia } from '../http/elysia.ts'
import { feature, route, textModel } from '../http/route.ts'
import { createTlsPage, type TlsPlace } from './tls-page.ts'

const PageModel = textModel('text/html', 'How to trust the authority of this shop')
const AuthorityModel = textModel('application/x-x509-ca-cert', 'Its certificate, in DER')

/** Pages for devices of a shop with its own certificate authority, on plain http as well: devices begin there. */
export function tlsRoutes(place: TlsPlace | null) {
  const known = () => {
    if (!place) throw new Refusal('not-found')
    return place
  }
  return new Elysia({ name: 'tls', ...feature({ tag: 'Service' }) })
    .get(
      '/tls',
      ({ request }) => {
        const { html, headers } = createTlsPage(known(), request)
        return new Response(html, { headers })
      },
      {
        ...route({
          summary: 'How to trust the certificate of this shop',
          access: 'public',
          answers: { 200: PageModel },
          refusals: ['not-found'],
        }),
      },
    )
    .get(
      '/tls/cuponera.crt',
      () =>
        new Response(new Uint8Array(known().authority), {
          headers: {
            'Content-Type': 'application/x-x509-ca-cert',
            'Cache-Control': 'no-store',
            'Access-Control-Allow-Origin': '*',
            'X-Content-Type-Options': 'nosniff',
          },
        }),
      {
        ...route({
          summary: 'The authority of this shop',
          access: 'public',
          answers: { 200: AuthorityModel },
          refusals: ['not-found'],
        }),
      },
    )
}
