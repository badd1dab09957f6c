import { unspecifiedAddress } from '../base/network.ts'
import { toBrowserUrl } from '../tls/files.ts'

type Listening = {
  url: string
  /** Null without a certificate. */
  secureUrl: string | null
}

/** The addresses of this service: by the settings, else by the ports that it listens on. */
export type OwnAddresses = {
  /** Set the addresses of the ports, once the service listens. */
  listening(at: Listening): void
  /** The addresses of the ports; empty before the service listens. */
  ports(): Listening
  /** The address for links and answers. */
  base(): string
  /** Origins that announcements may name. */
  origins(): readonly string[]
  /** The address of the embedded relay for a request to the origin `asked`; null when unknown. */
  relayUrl(asked: string | null): string | null
}

export function createOwnAddresses(publicUrls: readonly string[]): OwnAddresses {
  let ports: Listening = { url: '', secureUrl: null }
  return {
    listening(at) {
      ports = at
    },
    ports: () => ports,
    base: () => publicUrls[0] ?? toBrowserUrl(ports.url),
    origins: () =>
      publicUrls.length > 0
        ? publicUrls
        : [ports.secureUrl ?? ports.url, ports.url].map((url) => toBrowserUrl(url)),
    relayUrl(asked) {
      const known = [publicUrls[0], ports.url, asked]
      const at = known.find((one) => one && !unspecifiedAddress.test(one))
      return at ? `${at.replace(/^http/, 'ws')}/relay` : null
    },
  }
}
