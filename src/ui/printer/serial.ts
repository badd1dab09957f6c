/** Receipt printers by Web Serial: a serial cable, or Bluetooth as a serial port. */

import {
  chunkBytes,
  chunksOf,
  createPrinter,
  type Printer,
  PrinterError,
  putAway,
  within,
} from './device.ts'
import type { BaudRate } from './settings.ts'

/** The parts of a port of Web Serial that printing takes; the types of the platform have none of it. */
export type SerialPort = {
  open(options: { baudRate: number; bufferSize: number }): Promise<void>
  close(): Promise<void>
  /** Missing in browsers before 2022. */
  forget?(): Promise<void>
  readable: ReadableStream<Uint8Array> | null
  writable: WritableStream<Uint8Array> | null
}
export type Serial = {
  getPorts(): Promise<SerialPort[]>
  requestPort(): Promise<SerialPort>
}

/** `DLE EOT 4`: the printer answers at once with the state of its paper. */
const askPaper = Uint8Array.from([0x10, 0x04, 0x04])
/** Both bits are set without paper; the others of the answer tell that it is one. */
const paperEnd = 0x60
const [fixedBits, fixedValue] = [0x93, 0x12]
const answerMs = 700

export function openSerialPrinter(serial: Serial, baudRate: () => BaudRate): Printer {
  return createPrinter({
    async choose() {
      const chosen = await serial.requestPort()
      // Ports have no names, so the next page takes the one that is still permitted.
      const others = (await serial.getPorts()).filter((one) => one !== chosen)
      await Promise.all(others.map((one) => one.forget?.()))
    },
    async print(bytes) {
      const port = (await serial.getPorts()).at(-1)
      if (!port) throw new PrinterError('gone')
      await printOn(port, baudRate(), bytes)
    },
  })
}

async function printOn(
  port: SerialPort,
  baudRate: BaudRate,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<void> {
  try {
    await port.open({ baudRate, bufferSize: chunkBytes })
  } catch (cause) {
    // Open in another page or program, or unplugged: a browser reports both as a failure of the network.
    throw new PrinterError(
      cause instanceof Error && cause.name === 'NetworkError' ? 'busy' : 'failed',
      cause,
    )
  }
  const writer = port.writable?.getWriter()
  try {
    if (!writer) throw new PrinterError('gone')
    const send = (chunk: Uint8Array) => within(writer.write(chunk), stuck)
    await send(askPaper)
    if (await answersNoPaper(port)) throw new PrinterError('paper')
    for (const chunk of chunksOf(bytes)) await send(chunk)
    await within(writer.close(), stuck)
  } catch (cause) {
    // A port with a write that hangs does not close.
    if (writer) await putAway(writer.abort())
    throw cause
  } finally {
    writer?.releaseLock()
    await putAway(port.close())
  }
}

function stuck(): never {
  throw new PrinterError('stuck')
}

/** Whether the printer says that it has no paper. Without an answer, it is taken to have some. */
async function answersNoPaper({ readable }: SerialPort): Promise<boolean> {
  const reader = readable?.getReader()
  if (!reader) return false
  const read = reader.read().catch(() => null)
  const answer = await within(read, () => null, answerMs)
  await reader.cancel().catch(() => undefined)
  reader.releaseLock()
  const state = answer?.value?.[0] ?? 0
  return (state & fixedBits) === fixedValue && (state & paperEnd) === paperEnd
}
