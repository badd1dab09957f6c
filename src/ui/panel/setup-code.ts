/** The setup code in the address of the panel: `/panel#alta=CODE`. */
import { signal } from '@preact/signals'
import { tab } from '../browser/storage.ts'

const place = 'setup-code'
/** Longest code that the service reads. */
const codeCharsMax = 64

/** The code from the address, until the service has accepted or refused it. */
export const heldCode = signal<string | null>(tab.read(place))

/** The code in a scanned text: the address that the operator's QR has, or the code alone; else null. */
export function parseSetupCode(text: string): string | null {
  const [, after = text] = text.split('#alta=')
  const code = unescaped(after).trim()
  return code.length <= codeCharsMax && /^[a-z0-9][a-z0-9\s-]{6,}$/i.test(code) ? code : null
}

/** Move the code from the address to the storage of the tab: it is a credential, and the history keeps addresses. */
export function readSetupCode(): void {
  if (!location.hash.startsWith('#alta=')) return
  const code = parseSetupCode(location.hash)
  history.replaceState(null, '', location.pathname)
  if (code === null) return
  heldCode.value = code
  tab.write(place, code)
}

export function forgetSetupCode(): void {
  heldCode.value = null
  tab.remove(place)
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch (cause) {
    // A truncated address.
    if (cause instanceof URIError) return ''
    throw cause
  }
}
