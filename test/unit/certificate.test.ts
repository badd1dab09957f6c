import { expect, test } from 'bun:test'
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { createAuthority, issueCertificate } from '../../src/tls/certificate.ts'

const life = { from: 1_800_000_000, to: 1_900_000_000 }
const subject = { organisation: 'Cuponera', name: 'Cuponera caja' }
const authority = createAuthority(subject, ['caja', 'local'], life)
const issue = (lasts = life) =>
  new X509Certificate(issueCertificate(authority, ['caja.local', '10.0.0.7', '::1'], lasts).cert)

/** The DER of an object identifier, and what follows it. */
const after = ({ raw }: X509Certificate, oid: string) =>
  raw.toString('hex').split(oid).slice(1).join(oid)

test('a certificate contains names and addresses, and its issuer', () => {
  const [root, leaf] = [new X509Certificate(authority.cert), issue()]
  expect(root.subject).toBe('O=Cuponera\nCN=Cuponera caja')
  expect([leaf.subject, leaf.issuer]).toEqual(['O=Cuponera\nCN=caja.local', root.subject])
  expect(new X509Certificate(authority.cert).subject).toContain(`CN=${subject.name}`)
  expect(leaf.subjectAltName).toMatch(
    /^DNS:caja\.local, IP Address:10\.0\.0\.7, IP Address:(0:)+1$|::1$/,
  )
  expect([leaf.checkIssued(root), leaf.verify(root.publicKey)]).toEqual([true, true])
  expect(root.checkPrivateKey(createPrivateKey(authority.key))).toBe(true)
  // The identifier of the signer's key stands in both.
  const keyId = /^0416(0414[0-9a-f]{40})/.exec(after(root, '0603551d0e'))?.[1]?.slice(4) ?? 'none'
  expect(after(leaf, '0603551d23')).toStartWith(`041830168014${keyId}`)
})

test('the key usage is marked critical: signing certificates, or serving', () => {
  const [root, leaf] = [new X509Certificate(authority.cert), issue()]
  expect(after(root, '0603551d13')).toStartWith('0101ff0408' + '30060101ff020100')
  expect(after(root, '0603551d0f')).toStartWith('0101ff0404' + '03020106')
  expect(after(root, '0603551d1e')).toStartWith('0101ff')
  expect(after(leaf, '0603551d13')).toStartWith('0101ff0402' + '3000')
  expect(after(leaf, '0603551d0f')).toStartWith('0101ff0404' + '03020780')
})

test('both certificates are limited to servers, not mail, programs or clients', () => {
  const serverAuth = '1.3.6.1.5.5.7.3.1'
  for (const certificate of [new X509Certificate(authority.cert), issue()]) {
    expect(certificate.keyUsage).toEqual([serverAuth])
  }
})

test('times are exact to the second before and after 2050, and serial numbers are unique', () => {
  const [from, to] = [2_500_000_000, 2_600_000_000]
  const long = issue({ from, to })
  expect([long.validFrom, long.validTo].map((text) => Date.parse(text) / 1000)).toEqual([from, to])
  // UTCTime, then GeneralizedTime.
  const written = Buffer.from('\x17\x0d490322042640Z\x18\x0f20520522141320Z')
  expect(long.raw.includes(written)).toBe(true)
  const serials = Array.from({ length: 20 }, () => issue().serialNumber)
  expect(new Set(serials).size).toBe(20)
  expect(serials.filter((serial) => !/^[4-7][0-9A-F]{31}$/.test(serial))).toEqual([])
})
