import { OperatorError } from '../../base/operator-error.ts'

/**
 * A URL of PostgreSQL (RFC 3986, as libpq reads it): user, hosts in their order, and what follows them. A password
 * has `/`, `?`, `#` and `@` in their encoded form.
 */
const shape = /^(postgres(?:ql)?:\/\/(?:[^@/?#]*@)?)([^@/?#]*)((?:\/[^@?#]*)?(?:\?[^#]*)?)$/

/** One address for each host of a URL that names several. A host without a port has the default one. */
export function addressesOf(url: string): string[] {
  const [, before, hosts, rest] = shape.exec(url) ?? []
  const known = before !== undefined && hosts !== undefined
  const addresses = known ? hosts.split(',').map((host) => [before, host, rest]) : []
  if (!known || !addresses.every(([start, host, end]) => isUrl(`${start}${host || 'x'}${end}`))) {
    throw new OperatorError(
      'DATABASE_URL is not an address of PostgreSQL: postgres://user@host/name\n' +
        'In a password write / as %2F, ? as %3F, # as %23, @ as %40 and % as %25.',
    )
  }
  return addresses.map((parts) => parts.join(''))
}

/** Hosts and name of a database, without what proves who asks. Empty if the address is none. */
export function shownAddress(url: string): string {
  const [, , hosts = '', rest = ''] = shape.exec(url) ?? []
  const [name = ''] = rest.split('?')
  return `${hosts}${name}`
}

function isUrl(text: string): boolean {
  try {
    decodeURI(text)
    return URL.canParse(text)
  } catch {
    return false
  }
}
