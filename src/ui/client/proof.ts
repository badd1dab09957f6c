import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import { secondsNow } from './format.ts'
import { randomText } from './random.ts'
import type { PageSigner } from './signer.ts'

/** The Authorization header by which a key signs one POST of a JSON text (NIP-98). Throws SignerError. */
export async function proofOf(signer: PageSigner, path: string, body: string): Promise<string> {
  const proof = await signer.sign({
    kind: 27_235,
    created_at: secondsNow(),
    tags: [
      ['u', `${location.origin}${path}`],
      ['method', 'POST'],
      ['payload', bytesToHex(sha256(utf8ToBytes(body)))],
      ['nonce', randomText()],
    ],
    content: '',
  })
  return `Nostr ${btoa(JSON.stringify(proof))}`
}
