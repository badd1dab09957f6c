/** Receipt printers by WebUSB. */
import { chunksOf, createPrinter, type Printer, PrinterError, putAway, within } from './device.ts'

type Endpoint = { endpointNumber: number; direction: 'in' | 'out'; type: string }
type Alternate = {
  alternateSetting: number
  interfaceClass: number
  endpoints: readonly Endpoint[]
}
type Interface = { interfaceNumber: number; alternates: readonly Alternate[] }
type Configuration = { configurationValue: number; interfaces: readonly Interface[] }
type Transfer = { status?: string; data?: DataView | undefined }

/** The parts of a device of WebUSB that printing takes; the types of the platform have none of it. */
export type UsbDevice = {
  vendorId: number
  productId: number
  serialNumber?: string | undefined
  configuration: Configuration | null
  configurations: readonly Configuration[]
  open(): Promise<void>
  close(): Promise<void>
  selectConfiguration(value: number): Promise<void>
  claimInterface(at: number): Promise<void>
  releaseInterface(at: number): Promise<void>
  selectAlternateInterface(at: number, setting: number): Promise<void>
  transferOut(endpoint: number, data: BufferSource): Promise<Transfer>
  controlTransferIn(
    setup: {
      requestType: string
      recipient: string
      request: number
      value: number
      index: number
    },
    length: number,
  ): Promise<Transfer>
}
export type Usb = {
  getDevices(): Promise<UsbDevice[]>
  requestDevice(options: { filters: { classCode: number }[] }): Promise<UsbDevice>
}

/** The class of printers (USB-IF). */
const printerClass = 7
/** GET_PORT_STATUS of the printer class, and its bit for "no paper". */
const portStatus = 1
const paperEmpty = 0x20
const statusMs = 1000

/** `chosen`: which of the permitted printers; it remembers the name of one, over reloads. */
export function openUsbPrinter(
  usb: Usb,
  chosen: { read(): string | null; write(name: string): void },
): Printer {
  const find = async () => {
    const permitted = (await usb.getDevices()).filter((one) => printerPart(one) !== null)
    const device = permitted.find((one) => nameOf(one) === chosen.read()) ?? permitted[0]
    if (!device) throw new PrinterError('gone')
    return device
  }
  return createPrinter({
    async choose() {
      const device = await usb.requestDevice({ filters: [{ classCode: printerClass }] })
      chosen.write(nameOf(device))
    },
    async print(bytes) {
      await printOn(await find(), bytes)
    },
  })
}

function nameOf({ vendorId, productId, serialNumber = '' }: UsbDevice): string {
  return `${vendorId}:${productId}:${serialNumber}`
}

type Part = { configuration: number; at: number; setting: number; out: number }

/** The interface of a printer and its bulk endpoint; null where the device is none. */
function printerPart({ configuration, configurations }: UsbDevice): Part | null {
  for (const one of configuration ? [configuration] : configurations) {
    for (const { interfaceNumber, alternates } of one.interfaces) {
      for (const { alternateSetting, interfaceClass, endpoints } of alternates) {
        const out = endpoints.find(({ direction, type }) => direction === 'out' && type === 'bulk')
        if (interfaceClass !== printerClass || !out) continue
        return {
          configuration: one.configurationValue,
          at: interfaceNumber,
          setting: alternateSetting,
          out: out.endpointNumber,
        }
      }
    }
  }
  return null
}

async function printOn(device: UsbDevice, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
  const part = printerPart(device)
  if (!part) throw new PrinterError('gone')
  await device.open()
  try {
    if (device.configuration === null) await device.selectConfiguration(part.configuration)
    await claim(device, part)
    await checkPaper(device, part)
    for (const chunk of chunksOf(bytes)) {
      const { status } = await within(device.transferOut(part.out, chunk), async () => {
        await checkPaper(device, part)
        throw new PrinterError('stuck')
      })
      if (status !== 'ok') throw new PrinterError('failed')
    }
    await device.releaseInterface(part.at)
  } finally {
    // It also ends a transfer that hangs, and lets other programs have the printer.
    await putAway(device.close())
  }
}

async function claim(device: UsbDevice, { at, setting }: Part): Promise<void> {
  try {
    await device.claimInterface(at)
  } catch (cause) {
    // The system or another page holds it, which a browser reports as a failure of the network.
    throw new PrinterError('busy', cause)
  }
  if (setting !== 0) await device.selectAlternateInterface(at, setting)
}

/** Throws where the printer says that it has no paper. Many cheap ones say nothing. */
async function checkPaper(device: UsbDevice, { at }: Part): Promise<void> {
  const setup = {
    requestType: 'class',
    recipient: 'interface',
    request: portStatus,
    value: 0,
    index: at,
  }
  const asked = device.controlTransferIn(setup, 1).catch(() => null)
  const answer = await within(asked, () => null, statusMs)
  const status = answer?.data?.byteLength ? answer.data.getUint8(0) : 0
  if (status & paperEmpty) throw new PrinterError('paper')
}
