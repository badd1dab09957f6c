/** A key that a browser makes for itself, without asking: a poster gives one coupon to each. */
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import { generateSecretKey } from 'nostr-tools/pure'
import type { PageSigner } from './signer.ts'
import { signerOf } from './signer-key.ts'
import type { TextStore } from './texts.ts'

const place = 'browser-key'
const hex32 = /^[0-9a-f]{64}$/

/** The key of this browser. The first call stores a new one. */
export function openBrowserKey(store: TextStore): PageSigner {
  const stored = store.read(place) ?? ''
  const known = hex32.test(stored)
  const secret = known ? hexToBytes(stored) : generateSecretKey()
  if (!known) store.write(place, bytesToHex(secret))
  return signerOf(secret)
}
