/** Receipt printers behind WebUSB and Web Serial, as a browser shows them to a page. */
import type { Serial, SerialPort } from '../../src/ui/printer/serial.ts'
import type { Usb, UsbDevice } from '../../src/ui/printer/usb.ts'

/** `stuck`: takes no more bytes. `gone`: unplugged; `pulled`: just now, in the middle of a ticket. `busy`: another program has it. `mute`: answers no question. */
export type Mood = 'fine' | 'paperless' | 'stuck' | 'gone' | 'pulled' | 'busy' | 'mute'
export type FakePrinter = {
  mood: Mood
  /** All bytes that came in, and the sizes of their pieces. */
  bytes: number[]
  pieces: number[]
  open: boolean
  /** Whether the person chooses it in the browser's list. */
  offered: boolean
  permitted: boolean
}

const newPrinter = (): FakePrinter => ({
  mood: 'fine',
  bytes: [],
  pieces: [],
  open: false,
  offered: true,
  permitted: false,
})

const never = () => new Promise<never>(() => undefined)
const fail = (name: string) => new DOMException(name, name)

function take(printer: FakePrinter, chunk: Uint8Array): void {
  printer.bytes.push(...chunk)
  printer.pieces.push(chunk.length)
}

/** A USB device whose second interface is a printer; the first is none. */
export function fakeUsb(count = 1): { usb: Usb; printers: FakePrinter[] } {
  const printers = Array.from({ length: count }, newPrinter)
  const devices = printers.map((printer, at) => usbDevice(printer, `N${at}`))
  const usb: Usb = {
    getDevices: async () =>
      devices.filter((_, at) => printers[at]?.permitted && printers[at].mood !== 'gone'),
    async requestDevice({ filters }) {
      const at = printers.findIndex((one) => one.offered)
      const [printer, device] = [printers[at], devices[at]]
      if (filters[0]?.classCode !== 7 || !printer || !device) throw fail('NotFoundError')
      printer.permitted = true
      return device
    },
  }
  return { usb, printers }
}

function usbDevice(printer: FakePrinter, serialNumber: string): UsbDevice {
  let claimed = -1
  const bulk = { endpointNumber: 3, direction: 'out' as const, type: 'bulk' }
  const configurations = [
    {
      configurationValue: 1,
      interfaces: [
        {
          interfaceNumber: 0,
          alternates: [{ alternateSetting: 0, interfaceClass: 3, endpoints: [bulk] }],
        },
        {
          interfaceNumber: 1,
          alternates: [{ alternateSetting: 0, interfaceClass: 7, endpoints: [bulk] }],
        },
      ],
    },
  ]
  const device: UsbDevice = {
    ...{ vendorId: 1208, productId: 514, serialNumber, configuration: null, configurations },
    async open() {
      if (printer.mood === 'gone') throw fail('NotFoundError')
      printer.open = true
    },
    async close() {
      if (printer.mood === 'pulled') throw fail('InvalidStateError')
      printer.open = false
      claimed = -1
    },
    async selectConfiguration(value) {
      device.configuration = configurations.find((one) => one.configurationValue === value) ?? null
    },
    async claimInterface(at) {
      if (!printer.open || !device.configuration) throw fail('InvalidStateError')
      if (printer.mood === 'busy') throw fail('NetworkError')
      claimed = at
    },
    async releaseInterface() {
      claimed = -1
    },
    selectAlternateInterface: async () => undefined,
    async transferOut(endpoint, data) {
      if (claimed !== 1 || endpoint !== 3) throw fail('InvalidAccessError')
      if (printer.mood === 'stuck') return never()
      if (printer.mood === 'pulled') throw fail('NetworkError')
      take(printer, new Uint8Array(data as ArrayBuffer | Uint8Array<ArrayBuffer>))
      return { status: 'ok' }
    },
    async controlTransferIn(setup, length) {
      const asked = [setup.requestType, setup.recipient, setup.request, setup.index, length]
      if (asked.join() !== 'class,interface,1,1,1' || printer.mood === 'mute') return never()
      const status = printer.mood === 'paperless' ? 0x30 : 0x18
      return { status: 'ok', data: new DataView(Uint8Array.of(status).buffer) }
    },
  }
  return device
}

/** Serial ports with a printer each, and the speeds at which they were opened. */
export function fakeSerial(count = 1): {
  serial: Serial
  printers: FakePrinter[]
  speeds: number[]
} {
  const speeds: number[] = []
  const printers = Array.from({ length: count }, newPrinter)
  const ports = printers.map((printer) => serialPort(printer, speeds))
  const serial: Serial = {
    getPorts: async () => ports.filter((_, at) => printers[at]?.permitted),
    async requestPort() {
      const at = printers.findIndex((one) => one.offered)
      const [printer, port] = [printers[at], ports[at]]
      if (!printer || !port) throw fail('NotFoundError')
      printer.permitted = true
      return port
    },
  }
  return { serial, printers, speeds }
}

function serialPort(printer: FakePrinter, speeds: number[]): SerialPort {
  let answer: ((value: Uint8Array) => void) | null = null
  const port: SerialPort = {
    readable: null,
    writable: null,
    async open({ baudRate }) {
      if (printer.open) throw fail('InvalidStateError')
      if (printer.mood === 'busy' || printer.mood === 'gone') throw fail('NetworkError')
      printer.open = true
      speeds.push(baudRate)
      port.readable = new ReadableStream({
        start: (controller) => {
          answer = (value) => controller.enqueue(value)
        },
      })
      port.writable = new WritableStream({
        write(chunk) {
          if (printer.mood === 'stuck') return never()
          if (printer.mood === 'pulled') throw fail('NetworkError')
          const asked = chunk.length === 3 && chunk[0] === 0x10
          if (!asked) return take(printer, chunk)
          if (printer.mood === 'mute') return
          answer?.(Uint8Array.of(printer.mood === 'paperless' ? 0x72 : 0x12))
        },
      })
    },
    async forget() {
      printer.permitted = false
    },
    async close() {
      if (printer.mood === 'pulled') throw fail('InvalidStateError')
      if (port.readable?.locked || port.writable?.locked) throw fail('InvalidStateError')
      printer.open = false
    },
  }
  return port
}
