import { limits } from '../base/limits.ts'
import type { Log } from '../base/log.ts'
import { type Machine, readMachine } from '../base/machine.ts'
import type { PictureAddresses } from '../coupons/definition-picture.ts'
import { createOrigins, type Origins } from '../http/origin.ts'
import { createOwnNames, isLoopbackName } from '../http/own-names.ts'
import { pictureAt, picturePath } from '../pictures/address.ts'
import type { Config } from './config.ts'

/** The origins of this service: from the settings, else from the current names of this machine. */
export function openOrigins({ publicUrls, trustedProxies }: Config): Origins {
  const ownNames = createOwnNames(readMachine, () => performance.now())
  return createOrigins({ publicOrigins: publicUrls, trustedProxies, ownNames })
}

/** The origin under which uploaded pictures have an address. Null without an https one, as the contract wants https. */
export function pictureOrigin({ publicUrls }: Config): string | null {
  return publicUrls.find((url) => url.startsWith('https:')) ?? null
}

/** The addresses of uploaded pictures under the https origins of the settings. */
export function pictureAddresses(config: Config): PictureAddresses {
  const origin = pictureOrigin(config)
  return {
    addressOf: (picture) => origin && picturePath(picture, origin),
    pictureAt: (address) => pictureAt(address, config.publicUrls),
  }
}

/** Lines of the start block about the names that signatures may use; none where the settings or HOST say it. */
export function nameLines({ publicUrls }: Config, url: string, machine: Machine): string[] {
  const { hostname, port, protocol } = new URL(url)
  if (publicUrls.length > 0 || isLoopbackName(hostname)) return []
  // A link-local address is valid on one interface only, and a URL cannot name the interface.
  const hosts = machine.hosts.filter((host) => !host.startsWith('[fe80:'))
  const shown = hosts.slice(0, limits.certificateHostsMax).join(', ')
  const known = `${shown || 'none known'}; for any other: PUBLIC_URL`
  if (!machine.container) return [known]
  const example = `PUBLIC_URL=${protocol}//ADDRESS-OF-ITS-HOST${port && `:${port}`}`
  return [known, `in a container without the network of its host: ${example}`]
}

/** Create the warning about signatures for an unknown origin: once for each origin, for the first few. */
export function createUnknownOriginWarning(log: Log): (asked: string) => void {
  const told = new Set<string>()
  return (asked) => {
    if (told.size >= limits.unknownOriginsLogged || told.has(asked)) return
    told.add(asked)
    log.warn('origin.unknown', {
      hint: `if this service is to be found there: PUBLIC_URL=${asked}`,
    })
  }
}
