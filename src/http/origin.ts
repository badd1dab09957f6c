import { limits } from '../base/limits.ts'
import { type Network, parseAddress, within } from '../base/network.ts'
import { isLoopbackName, type OwnNames } from './own-names.ts'

/** Which peers may speak for their clients, and where this service lives. */
type OriginRules = {
  /** Public origins from `PUBLIC_URL`; empty: taken from the request where that is safe. */
  publicOrigins: readonly string[]
  /** Reverse proxies. */
  trustedProxies: readonly Network[]
  /** What counts without public origins. */
  ownNames: OwnNames
}

const plainIpv4 = /^\d{1,3}(\.\d{1,3}){3}$/

export type Origins = ReturnType<typeof createOrigins>

/** Who asks, and under which address, from the socket and the headers of trusted proxies. */
export function createOrigins(rules: OriginRules) {
  const trusts = (peer: string) => {
    if (rules.trustedProxies.length === 0) return false
    const address = parseAddress(peer)
    return address !== null && rules.trustedProxies.some((network) => within(address, network))
  }

  /** The address that the client says it asked: of a trusted proxy's client, as the proxy passes it on. */
  const askedAddress = (request: Request, peer: string) => {
    const forwarded = trusts(peer)
    const { headers } = request
    const said = (name: string) => (forwarded && lastOf(headers.get(name))) || null
    const host = said('x-forwarded-host') ?? headers.get('host')
    const scheme = said('x-forwarded-proto') ?? schemeOf(request)
    return host === null ? null : `${scheme}://${host}`
  }

  /** Names that no public origin serves over plain http. */
  const httpsOnly = rules.publicOrigins.every((origin) => origin.startsWith('https:'))
  const strictNames = new Set(
    httpsOnly ? rules.publicOrigins.map((origin) => new URL(origin).hostname) : [],
  )

  /** Parsing an address costs more than all else that is done with it, and most requests name the same. */
  let last: { asked: string; url: URL | null } = { asked: '', url: null }
  const askedUrl = (request: Request, peer: string) => {
    const asked = askedAddress(request, peer) ?? ''
    if (asked !== last.asked) {
      const url = URL.parse(asked)
      // A Host is a host and a port: with a user or a path in it, it is nobody's.
      last = { asked, url: url?.href === `${url?.origin}/` ? url : null }
    }
    return last.url
  }

  return {
    /** True when the peer speaks for somebody else without being declared in `TRUSTED_PROXIES`. */
    undeclaredProxy(request: Request, peer: string): boolean {
      const { headers } = request
      return (headers.has('x-forwarded-for') || headers.has('x-forwarded-host')) && !trusts(peer)
    },

    /** The address that limits are counted by: IPv6 by its /64. */
    client(request: Request, peer: string): string {
      let client = peer
      if (trusts(peer)) {
        // From the right: each trusted proxy vouches for the entry before its own.
        const hops = (request.headers.get('x-forwarded-for') ?? '').split(',').slice(-20)
        for (const hop of hops.reverse()) {
          const address = hop.trim()
          if (parseAddress(address) === null) break
          client = address
          if (!trusts(address)) break
        }
      }
      return limitKey(client)
    },

    /** Nobody on the way reads the answer: https, or the client is on this machine. */
    secure(request: Request, peer: string): boolean {
      if (schemeOf(request) === 'https') return true
      const { headers } = request
      if (trusts(peer)) return lastOf(headers.get('x-forwarded-proto')) === 'https'
      return isLoopback(peer) && !isForwarded(headers)
    },

    /**
     * A client on this machine asks for itself. A name in Host other than `localhost` is that of a
     * proxy's site, or of a page that resolves its own name to this machine (DNS rebinding).
     */
    local({ headers }: Request, peer: string): boolean {
      if (!isLoopback(peer) || isForwarded(headers)) return false
      const host = headers.get('host')
      const { hostname = '' } = URL.parse(`http://${host}`) ?? {}
      return host === null || hostname === 'localhost' || isAddress(hostname)
    },

    /** The origins this request may have been signed for (NIP-98); empty when none is safe to assume. */
    accepted(request: Request, peer: string): readonly string[] {
      if (rules.publicOrigins.length > 0) return rules.publicOrigins
      const url = askedUrl(request, peer)
      return url && rules.ownNames.has(url.hostname, peer) ? [url.origin] : []
    },

    /** The same for signatures to the relay (NIP-42): on this machine it is found at `localhost`, too. */
    acceptedForRelay(request: Request, peer: string): readonly string[] {
      const accepted = this.accepted(request, peer)
      const url = askedUrl(request, peer)
      const here = url && isLoopbackName(url.hostname) && rules.ownNames.has(url.hostname, peer)
      return here ? [...accepted, url.origin] : accepted
    },

    /** The origin that was asked, fit to be shown: a scheme, and a host and port of plain characters. */
    asked(request: Request, peer: string): string | null {
      const url = askedUrl(request, peer)
      if (!url || !/^https?:$/.test(url.protocol)) return null
      const plain = /^([a-z0-9.-]+|\[[0-9a-f:]+\])$/.test(url.hostname)
      return plain && url.origin.length <= limits.originCharsMax ? url.origin : null
    },

    /**
     * Browsers may be told to use nothing but https for the name they asked (RFC 6797): it is in
     * `PUBLIC_URL`, which has no plain http, and was asked over https. Other names may be served by
     * another authority tomorrow, or by none. An address is what a proxy asks by that does not pass the
     * name on; browsers do not heed it for addresses.
     */
    strict(request: Request, peer: string): boolean {
      if (strictNames.size === 0) return false
      const url = askedUrl(request, peer)
      if (url?.protocol !== 'https:') return false
      return strictNames.has(url.hostname) || isAddress(url.hostname)
    },
  }
}

/** The request says that it came by a proxy. */
export function isForwarded(headers: Headers): boolean {
  if (headers.has('forwarded') || headers.has('via')) return true
  for (const name of headers.keys()) if (name.startsWith('x-forwarded-')) return true
  return false
}

/** The entry that the nearest proxy wrote. */
function lastOf(list: string | null): string {
  return (list ?? '').split(',').at(-1)?.trim() ?? ''
}

function schemeOf(request: Request): string {
  return request.url.startsWith('https:') ? 'https' : 'http'
}

function isLoopback(peer: string): boolean {
  const address = parseAddress(peer)
  return address?.range() === 'loopback'
}

/** The host of a URL is an IP address. */
function isAddress(hostname: string): boolean {
  return parseAddress(hostname.replace(/^\[|\]$/g, '')) !== null
}

function limitKey(text: string): string {
  // What the socket says; a forwarded entry was parsed before it came here.
  if (plainIpv4.test(text)) return text
  const address = parseAddress(text)
  if (address === null) return 'unknown'
  if (address.kind() === 'ipv4') return address.toString()
  return address.toByteArray().slice(0, 8).join('.')
}
