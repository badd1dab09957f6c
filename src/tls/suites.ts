/**
 * Accepted cipher suites of TLS 1.2: forward secrecy (ECDHE) and authenticated encryption (AEAD), as RFC 9325, 4.2
 * asks for. Browsers since 2014 and iOS 9 have them. TLS 1.3 has no weaker ones; Bun refuses TLS 1.1 and older.
 */
export const modernSuites = [
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  // For an RSA certificate of the operator.
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-RSA-CHACHA20-POLY1305',
  'ECDHE-RSA-AES256-GCM-SHA384',
].join(':')
