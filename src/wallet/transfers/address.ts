import { limits } from '../../base/limits.ts'

/** A lightning address (LUD-16); `host` with its port where it is not 443. */
type LightningAddress = { name: string; host: string }

/** Not dots alone, which would go up the path of a URL. */
const localPart = /^(?!\.+$)[a-z0-9._+-]{1,64}$/
/** Characters that end the host in a URL, or that URL parsers drop. */
const notInHost = /[\p{Cc}\p{Cf}\s/\\@?#%]/u

/** The address in `name@host`, in lower case, the host in punycode; null for anything else. */
export function parseLightningAddress(text: string): LightningAddress | null {
  if (text.length > limits.nip05TextMax) return null
  const [name = '', host = '', ...rest] = text.trim().split('@')
  const local = name.toLowerCase()
  if (rest.length > 0 || !localPart.test(local) || host === '' || notInHost.test(host)) return null
  const url = URL.parse(`https://${host}`)
  if (!url || url.host === '' || url.hostname.endsWith('.')) return null
  return { name: local, host: url.host }
}
