import { asObject } from '../../base/json.ts'
import { parseStored } from '../../client/json.ts'

/** The Wi-Fi that the shop's customers may use. `key`: empty for an open network. */
export type Wifi = { network: string; key: string; hidden: boolean }

/** A network name has up to 32 bytes (IEEE 802.11). */
const networkBytesMax = 32
/** A WPA key: 8 to 63 printable ASCII characters, or 64 hexadecimal digits. */
const keyForm = /^([ -~]{8,63}|[0-9a-f]{64})$/i
/** A camera reads one line. */
const control = /\p{Cc}/u

/** The field that a phone would not take; null when both are good. */
export function wrongField({ network, key }: Wifi): 'network' | 'key' | null {
  const bytes = new TextEncoder().encode(network).length
  if (bytes === 0 || bytes > networkBytesMax || control.test(network)) return 'network'
  return key === '' || keyForm.test(key) ? null : 'key'
}

/** The text of a QR by which phones join the network. */
export function wifiCode({ network, key, hidden }: Wifi): string {
  const fields = [
    `T:${key === '' ? 'nopass' : 'WPA'}`,
    `S:${escaped(network)}`,
    ...(key === '' ? [] : [`P:${escaped(key)}`]),
    ...(hidden ? ['H:true'] : []),
  ]
  return `WIFI:${fields.join(';')};;`
}

/** The stored network; null when there is none that a phone would take. */
export function parseWifi(text: string | null): Wifi | null {
  const { network, key, hidden } = asObject(parseStored(text)) ?? {}
  if (typeof network !== 'string' || typeof key !== 'string') return null
  const wifi = { network, key, hidden: hidden === true }
  return wrongField(wifi) === null ? wifi : null
}

/** Characters that end a field, with a backslash. */
function escaped(text: string): string {
  return text.replace(/[\\;,:"]/g, '\\$&')
}
