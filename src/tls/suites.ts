/**
 * Suites of TLS 1.2 that https takes: a fresh key for each connection (ECDHE) and authenticated
 * encryption (AEAD), as browsers since 2014 and iOS 9 speak them (RFC 9325, 4.2). TLS 1.3 has no
 * others; what is older is refused by Bun itself.
 */
export const modernSuites = [
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  // For a certificate from elsewhere with an RSA key.
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-RSA-CHACHA20-POLY1305',
  'ECDHE-RSA-AES256-GCM-SHA384',
].join(':')
