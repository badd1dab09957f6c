import { limits } from '../base/limits.ts'
import { type Network, parseAddress, within } from '../base/network.ts'
import { isLoopbackName, type OwnNames } from './own-names.ts'

/** The proxies that are trusted, and the origins of this service. */
type OriginRules = {
  /** Public origins from `PUBLIC_URL`. If empty, the origin is that of the request where that is safe. */
  publicOrigins: readonly string[]
  /** Reverse proxies. */
  trustedProxies: readonly Network[]
  /** The names that count without public origins. */
  ownNames: OwnNames
}

const plainIpv4 = /^\d{1,3}(\.\d{1,3}){3}$/

export type Origins = ReturnType<typeof createOrigins>

/** The client of a request and the origin it asked, from the socket and the headers of trusted proxies. */
export function createOrigins(rules: OriginRules) {
  const trusts = (peer: string) => {
    if (rules.trustedProxies.length === 0) return false
    const address = parseAddress(peer)
    return address !== null && rules.trustedProxies.some((network) => within(address, network))
  }

  /** The address that the client asked, by its Host header or as a trusted proxy forwards it. */
  const askedAddress = (request: Request, peer: string) => {
    const forwarded = trusts(peer)
    const { headers } = request
    const said = (name: string) => (forwarded && lastOf(headers.get(name))) || null
    const host = said('x-forwarded-host') ?? headers.get('host')
    const scheme = said('x-forwarded-proto') ?? schemeOf(request)
    return host === null ? null : `${scheme}://${host}`
  }

  /** Names of the public origins, if all of them are https. */
  const httpsOnly = rules.publicOrigins.every((origin) => origin.startsWith('https:'))
  const strictNames = new Set(
    httpsOnly ? rules.publicOrigins.map((origin) => new URL(origin).hostname) : [],
  )

  /** A cache of one, because parsing is the expensive part and most requests name the same address. */
  let last: { asked: string; url: URL | null } = { asked: '', url: null }
  const askedUrl = (request: Request, peer: string) => {
    const asked = askedAddress(request, peer) ?? ''
    if (asked !== last.asked) {
      const url = URL.parse(asked)
      // A Host header is a host and a port. With a user or a path in it, it is invalid.
      last = { asked, url: url?.href === `${url?.origin}/` ? url : null }
    }
    return last.url
  }

  return {
    /** True if the peer forwards a request and is not in `TRUSTED_PROXIES`. */
    undeclaredProxy(request: Request, peer: string): boolean {
      const { headers } = request
      return (headers.has('x-forwarded-for') || headers.has('x-forwarded-host')) && !trusts(peer)
    },

    /** The key of the rate limits: the client address, for IPv6 its /64. */
    client(request: Request, peer: string): string {
      let client = peer
      if (trusts(peer)) {
        // Read from the right, because each trusted proxy vouches for the entry before its own.
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

    /** True for https and for clients on this machine, where nobody on the way can read the answer. */
    secure(request: Request, peer: string): boolean {
      if (schemeOf(request) === 'https') return true
      const { headers } = request
      if (trusts(peer)) return lastOf(headers.get('x-forwarded-proto')) === 'https'
      return isLoopback(peer) && !isForwarded(headers)
    },

    /**
     * True for a client on this machine that asks for itself. Any name in Host but `localhost` is that of
     * a proxy's site, or of a page that resolves its own name to this machine (DNS rebinding).
     */
    local({ headers }: Request, peer: string): boolean {
      if (!isLoopback(peer) || isForwarded(headers)) return false
      const host = headers.get('host')
      const { hostname = '' } = URL.parse(`http://${host}`) ?? {}
      return host === null || hostname === 'localhost' || isAddress(hostname)
    },

    /** The origins that a signature of this request may name (NIP-98). Empty if none is safe to assume. */
    accepted(request: Request, peer: string): readonly string[] {
      if (rules.publicOrigins.length > 0) return rules.publicOrigins
      const url = askedUrl(request, peer)
      return url && rules.ownNames.has(url.hostname, peer) ? [url.origin] : []
    },

    /** The same for signatures over a WebSocket (NIP-42). Clients on this machine may name `localhost`, too. */
    acceptedForSockets(request: Request, peer: string): readonly string[] {
      const accepted = this.accepted(request, peer)
      const url = askedUrl(request, peer)
      const here = url && isLoopbackName(url.hostname) && rules.ownNames.has(url.hostname, peer)
      return here ? [...accepted, url.origin] : accepted
    },

    /** The origin that was asked, if its host is of plain characters, so that it is safe to show. Else null. */
    asked(request: Request, peer: string): string | null {
      const url = askedUrl(request, peer)
      if (!url || !/^https?:$/.test(url.protocol)) return null
      const plain = /^([a-z0-9.-]+|\[[0-9a-f:]+\])$/.test(url.hostname)
      return plain && url.origin.length <= limits.originCharsMax ? url.origin : null
    },

    /**
     * True if browsers may be told to use only https for this name (RFC 6797). The name is in `PUBLIC_URL`,
     * which has no plain http, and was asked over https. Other names may have another certificate tomorrow, or
     * none. An address is accepted because a proxy may not forward the name. Browsers ignore it for addresses.
     */
    strict(request: Request, peer: string): boolean {
      if (strictNames.size === 0) return false
      const url = askedUrl(request, peer)
      if (url?.protocol !== 'https:') return false
      return strictNames.has(url.hostname) || isAddress(url.hostname)
    },
  }
}

/** True if the headers show that the request came by a proxy. */
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

/** True if the host of a URL is an IP address. */
function isAddress(hostname: string): boolean {
  return parseAddress(hostname.replace(/^\[|\]$/g, '')) !== null
}

function limitKey(text: string): string {
  // The fast path of most addresses. Forwarded entries were parsed before.
  if (plainIpv4.test(text)) return text
  const address = parseAddress(text)
  if (address === null) return 'unknown'
  if (address.kind() === 'ipv4') return address.toString()
  return address.toByteArray().slice(0, 8).join('.')
}
