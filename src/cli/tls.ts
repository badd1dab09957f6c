import { X509Certificate } from 'node:crypto'
import { encodeQR } from 'qr'
import type { Config } from '../app/config.ts'
import { openDataDir } from '../app/data.ts'
import { systemClock } from '../base/clock.ts'
import { hostForOthers, renewOwnCertificate, tlsPath } from '../tls/files.ts'

/** Create the shop's own authority and a certificate, or renew the certificate, and print the next steps. */
export async function tls(config: Config): Promise<number> {
  const { dataDir, port, tlsPort } = config
  openDataDir(dataDir)
  const { authority, hosts, ends } = await renewOwnCertificate(dataDir, systemClock())
  const { fingerprint256, validTo } = new X509Certificate(authority ?? '')
  const page = `http://${hostForOthers(hosts)}:${port}/tls`
  const lines = [
    `authority    ${tlsPath(dataDir, 'authorityCert')}, until ${day(Date.parse(validTo))}`,
    `             SHA-256 ${fingerprint256}`,
    `certificate  ${tlsPath(dataDir, 'cert')}, until ${day(ends * 1000)}`,
    `             for ${hosts.join(', ')}`,
    '',
    `Start the service (again): it answers at https on port ${tlsPort}, besides http on ${port}.`,
    'Each device has to trust the authority once. Open this page on it and follow its steps:',
    '',
    `  ${page}`,
    '',
    encodeQR(page, 'ascii').trimEnd(),
    '',
    `Anybody who has ${tlsPath(dataDir, 'authorityKey')} can pose as this machine to those devices: keep it here.`,
  ]
  if (config.tlsCert !== null)
    lines.push('TLS_CERT is set: these files are not used until it is unset.')
  if (/^(localhost|127\.|\[?::1)/.test(config.host)) {
    lines.push(`HOST is ${config.host}: for other devices, start with --host 0.0.0.0.`)
  }
  console.log(lines.join('\n'))
  return 0
}

function day(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 10)
}
