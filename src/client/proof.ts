import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import { systemClock } from '../base/clock.ts'
import { kinds } from '../nostr/kinds.ts'
import { randomText } from './random.ts'
import { type EventSigner, type EventTemplate, SignerError } from './signer.ts'

/** The request that a proof is for; `body` is null where it has none. */
type ProvenRequest = { url: string; method: string; body: string | null }

/** The unsigned event that authorises one request (NIP-98). Its nonce tells two equal requests apart. */
export function proofTemplate({ url, method, body }: ProvenRequest): EventTemplate {
  const tags = [
    ['u', url],
    ['method', method],
    ['nonce', randomText()],
  ]
  if (body !== null) tags.push(['payload', bytesToHex(sha256(utf8ToBytes(body)))])
  return { kind: kinds.httpAuth, created_at: systemClock(), tags, content: '' }
}

/** The Authorization header that carries a signed proof (NIP-98). */
export function proofHeader(proof: unknown): string {
  return `Nostr ${btoa(JSON.stringify(proof))}`
}

/** Sign one request; returns the Authorization header. Throws SignerError. */
export async function signRequest(signer: EventSigner, request: ProvenRequest): Promise<string> {
  const template = proofTemplate(request)
  try {
    return proofHeader(await signer.sign(template))
  } catch (cause) {
    if (cause instanceof SignerError) throw cause
    // The signer of a program throws what it likes, and only a SignerError says whether an earlier attempt is open.
    throw new SignerError('declined', 0, { cause })
  }
}
