/** The shop's Wi-Fi, on this device alone: no request has it. */
import { signal } from '@preact/signals'
import { linkReach } from '../browser/share.ts'
import { device } from '../browser/storage.ts'
import { parseWifi, type Wifi, wifiCode } from './wifi.ts'

const place = 'wifi'
const printPlace = 'wifi:print'

export const wifi = signal<Wifi | null>(parseWifi(device.read(place)))
/** Whether coupons on paper come with its code. */
export const wifiPrinted = signal(device.read(printPlace) === 'yes')

/** False when the device does not keep it. */
export function keepWifi(given: Wifi): boolean {
  wifi.value = given
  return device.write(place, JSON.stringify(given))
}

export function forgetWifi(): void {
  wifi.value = null
  wifiPrinted.value = false
  device.remove(place)
  device.remove(printPlace)
}

export function printWifi(on: boolean): void {
  wifiPrinted.value = on
  if (on) device.write(printPlace, 'yes')
  else device.remove(printPlace)
}

/** The network for tickets, where the merchant wants it on them and coupons open in it alone. */
export function wifiForPrint(): { network: string; code: string } | null {
  const known = wifi.value
  if (known === null || !wifiPrinted.value || linkReach() !== 'network') return null
  return { network: known.network, code: wifiCode(known) }
}
