import { X509Certificate } from 'node:crypto'
import { systemClock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import { findOwnCertificate, readCertificate, type ServedCertificate } from '../tls/files.ts'
import type { TlsPlace } from '../ui/tls-page.ts'
import type { Config } from './config.ts'

/** The certificate of the settings, else the shop's own; null without one. Throws OperatorError. */
export async function loadCertificate(config: Config, log: Log): Promise<ServedCertificate | null> {
  const { tlsCert, tlsKey, dataDir } = config
  const now = systemClock()
  const found =
    tlsCert !== null && tlsKey !== null
      ? readCertificate(tlsCert, tlsKey)
      : await findOwnCertificate(dataDir, now)
  if (!found) return null
  if (found.readable) log.warn('tls.key', { hint: 'others can read TLS_KEY: chmod 600 it' })
  if (found.ends <= now) log.warn('tls.expired', { hint: 'browsers refuse this certificate' })
  return found
}

/**
 * The data of the page about trusting the shop's authority; null without an authority. The ports are known
 * once the service listens.
 */
export function tlsPlace(
  certificate: ServedCertificate | null,
  urls: () => { url: string; secureUrl: string | null },
): TlsPlace | null {
  if (!certificate?.authority) return null
  const authority = new X509Certificate(certificate.authority)
  return {
    authority: authority.raw,
    fingerprint: authority.fingerprint256,
    hosts: certificate.hosts,
    ports() {
      const { url, secureUrl } = urls()
      const port = (text: string) =>
        Number(new URL(text).port) || (text.startsWith('https:') ? 443 : 80)
      return { http: url === secureUrl ? null : port(url), https: port(secureUrl ?? url) }
    },
  }
}
