/** All that printing takes beyond a button; it is loaded with the first ticket. */
import { device } from '../browser/storage.ts'
import { type Printer, PrinterError } from './device.ts'
import { hasLetters } from './letters.ts'
import { openSerialPrinter } from './serial.ts'
import { type Cable, type PrinterPorts, printerSettings } from './settings.ts'
import { type Ticket, ticketBytes } from './ticket.ts'
import { openUsbPrinter } from './usb.ts'

const chosenPlace = 'printer:usb'

/** Let the person choose a printer; false when they chose none. */
export function choosePrinter(cable: Cable): Promise<boolean> {
  return openPrinter(cable).choose()
}

/** Print a ticket on the chosen printer. Throws `PrinterError`. */
export async function printTicket(ticket: Ticket): Promise<void> {
  const { cable, width, accents } = printerSettings.peek()
  if (cable === null) throw new PrinterError('gone')
  const texts = [ticket.shop ?? '', ticket.title, ...ticket.lines]
  // A question mark in place of a word may hide what limits the benefit.
  if (!texts.every(hasLetters)) throw new PrinterError('letters')
  await openPrinter(cable).print(ticketBytes(ticket, { width, accents }))
}

function openPrinter(cable: Cable): Printer {
  const { usb, serial } = navigator as PrinterPorts
  if (cable === 'usb' && usb) {
    return openUsbPrinter(usb, {
      read: () => device.read(chosenPlace),
      write: (name) => void device.write(chosenPlace, name),
    })
  }
  if (cable === 'serial' && serial) {
    return openSerialPrinter(serial, () => printerSettings.peek().speed)
  }
  throw new PrinterError('gone')
}
