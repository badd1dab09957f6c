/** The setup code that came with the address of the panel: `/panel#alta=CODE`. */
import { signal } from '@preact/signals'
import { tab } from '../browser/storage.ts'

const place = 'setup-code'
/** The service reads no more than this of a code. */
const codeCharsMax = 64

/** The code that came with the address, until it was tried. */
export const heldCode = signal<string | null>(tab.read(place))

/** The code in a scanned text: the address that the service shows, or the code alone; null for another. */
export function parseSetupCode(text: string): string | null {
  const [, after = text] = text.split('#alta=')
  const code = unescaped(after).trim()
  return code.length <= codeCharsMax && /^[a-z0-9][a-z0-9\s-]{6,}$/i.test(code) ? code : null
}

/** Take the code out of the address and its entry in the history; the tab keeps it until it was tried. */
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
    if (cause instanceof URIError) return ''
    throw cause
  }
}
