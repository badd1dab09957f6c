import { everyAddress } from '../base/network.ts'
import { openable } from '../tls/files.ts'

type Listening = {
  url: string
  /** Null without a certificate. */
  secureUrl: string | null
}

/** The addresses of this service: by the settings, else by the ports that it listens on. */
export type OwnAddresses = {
  /** The service listens: its ports are known from now on. */
  listening(at: Listening): void
  /** Empty addresses before it listens. */
  ports(): Listening
  /** The address that others are given. */
  base(): string
  /** Origins that announcements may name. */
  origins(): readonly string[]
  /** The embedded relay for a client that reached us at `asked`; null when no address of it is known. */
  relayUrl(asked: string | null): string | null
}

export function createOwnAddresses(publicUrls: readonly string[]): OwnAddresses {
  let ports: Listening = { url: '', secureUrl: null }
  return {
    listening(at) {
      ports = at
    },
    ports: () => ports,
    base: () => publicUrls[0] ?? openable(ports.url),
    origins: () =>
      publicUrls.length > 0
        ? publicUrls
        : [ports.secureUrl ?? ports.url, ports.url].map((url) => openable(url)),
    relayUrl(asked) {
      const known = [publicUrls[0], ports.url, asked]
      const at = known.find((one) => one && !everyAddress.test(one))
      return at ? `${at.replace(/^http/, 'ws')}/relay` : null
    },
  }
}
