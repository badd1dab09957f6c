/** The ticket printer of this device, as its person chose it. */
import { signal } from '@preact/signals'
import { parseRecord } from '../../client/json.ts'
import { device } from '../browser/storage.ts'
import type { Serial } from './serial.ts'
import type { PaperWidth } from './ticket.ts'
import type { Usb } from './usb.ts'

/** Speeds of receipt printers, in bits a second. */
export const baudRates = [9600, 19200, 115200] as const
export type BaudRate = (typeof baudRates)[number]

export type Cable = 'usb' | 'serial'

type PrinterSettings = {
  /** Null before a printer was chosen. */
  cable: Cable | null
  width: PaperWidth
  accents: boolean
  /** Bits a second of a serial port. */
  speed: BaudRate
}

const place = 'printer'
const initial: PrinterSettings = { cable: null, width: 58, accents: true, speed: 9600 }

export const printerSettings = signal<PrinterSettings>(parseSettings(device.read(place)))

export function keepPrinter(change: Partial<PrinterSettings>): void {
  printerSettings.value = { ...printerSettings.peek(), ...change }
  device.write(place, JSON.stringify(printerSettings.peek()))
}

/** The cables by which a page of this browser may print. Plain http has none. */
export function printerCables(): Cable[] {
  if (!window.isSecureContext) return []
  return (['usb', 'serial'] as const).filter((cable) => cable in navigator)
}

/** Whether a tap prints a ticket: a printer was chosen, and this page may use it. */
export function hasPrinter(): boolean {
  const { cable } = printerSettings.value
  return cable !== null && printerCables().includes(cable)
}

/** The parts of `navigator` that the types of the platform do not have. */
export type PrinterPorts = { usb?: Usb; serial?: Serial }

function parseSettings(text: string | null): PrinterSettings {
  const { cable, width, accents, speed } = parseRecord(text) ?? {}
  return {
    cable: cable === 'usb' || cable === 'serial' ? cable : initial.cable,
    width: width === 80 ? 80 : initial.width,
    accents: accents !== false,
    speed: baudRates.find((one) => one === speed) ?? initial.speed,
  }
}
