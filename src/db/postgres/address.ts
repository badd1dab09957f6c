import { OperatorError } from '../../base/operator-error.ts'

/** A URL of PostgreSQL (RFC 3986, as libpq reads it): user, hosts in their order, and what follows them. */
const shape = /^(postgres(?:ql)?:\/\/(?:[^@/]*@)?)([^/?#]*)(.*)$/

/** One address for each host of a URL that names several. A host without a port has the default one. */
export function addressesOf(url: string): string[] {
  const [, before, hosts, rest] = shape.exec(url) ?? []
  if (before === undefined || hosts === undefined) {
    throw new OperatorError(
      'DATABASE_URL is not an address of PostgreSQL: postgres://user@host/name',
    )
  }
  return hosts.split(',').map((host) => `${before}${host}${rest}`)
}

/** Hosts and name of a database, without what proves who asks. */
export function shownAddress(url: string): string {
  const [, , hosts = '', rest = ''] = shape.exec(url) ?? []
  return `${hosts}${rest.replace(/[?#].*$/, '')}`
}
