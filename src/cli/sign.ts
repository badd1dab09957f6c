import { OperatorError } from '../base/operator-error.ts'
import { proofHeader, proofTemplate } from '../client/proof.ts'
import { openSchnorr } from '../crypto/schnorr.ts'
import { createSigner } from '../crypto/sign-event.ts'
import { secretIn } from './secret-file.ts'

type Request = { method: string; url: string; body: string | null; keyFile: string | undefined }

/**
 * Print the header that authorises one request (NIP-98), for `curl -H`. The key is in a file, which is made if it
 * is missing. Throws OperatorError.
 */
export function sign({ method, url, body, keyFile }: Request): number {
  if (keyFile === undefined) throw new OperatorError('sign needs --key FILE', 'usage')
  const { href } = parseUrl(url)
  const signer = createSigner(openSchnorr(), secretIn(keyFile))
  const template = proofTemplate({ url: href, method: method.toUpperCase(), body })
  console.log(`Authorization: ${proofHeader(signer.sign(template))}`)
  return 0
}

function parseUrl(text: string): URL {
  const url = URL.parse(text)
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url
  throw new OperatorError(`${text} is no http address`, 'usage')
}
