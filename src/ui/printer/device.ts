/** A receipt printer on this device, whatever its cable. */

/**
 * The reason why nothing came out: no printer is chosen or it is unplugged, it has no paper, another program or page has it,
 * it takes no more bytes, it lacks letters, or something else failed.
 */
export type PrinterTrouble = 'gone' | 'paper' | 'busy' | 'stuck' | 'letters' | 'failed'

export class PrinterError extends Error {
  readonly trouble: PrinterTrouble

  constructor(trouble: PrinterTrouble, cause?: unknown) {
    super(trouble, { cause })
    this.trouble = trouble
  }
}

export type Printer = {
  /** Ask the person for a printer; false when they chose none. Browsers allow it in answer to a tap only. */
  choose(): Promise<boolean>
  /** Print bytes on the chosen printer. Throws `PrinterError`. */
  print(bytes: Uint8Array<ArrayBuffer>): Promise<void>
}

/** Bytes that are handed to the cable at once. Printers with little memory take no more. */
export const chunkBytes = 1024
/** Time for a chunk. A printer of 9600 baud takes 1.1 s; one that takes longer has stopped. */
const chunkMs = 8000

const closeMs = 2000

/** The parts of a text of bytes, in order. */
export function chunksOf(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer>[] {
  const count = Math.ceil(bytes.length / chunkBytes)
  return Array.from({ length: count }, (_, at) =>
    bytes.subarray(at * chunkBytes, (at + 1) * chunkBytes),
  )
}

/** The outcome of a step of a cable; `late` after that time, since a printer without paper never answers. */
export async function within<T, Late>(
  step: Promise<T>,
  late: () => Late,
  milliseconds = chunkMs,
): Promise<T | Awaited<Late>> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const over = new Promise<'late'>((resolve) => {
    timer = setTimeout(resolve, milliseconds, 'late')
  })
  try {
    const first = await Promise.race([step.then((value) => ({ value })), over])
    return first === 'late' ? await late() : first.value
  } finally {
    clearTimeout(timer)
  }
}

/** Let other programs have the printer again. One that was pulled out or hangs does not close, and needs not. */
export async function putAway(closed: Promise<void>): Promise<void> {
  try {
    await within(closed, () => undefined, closeMs)
  } catch (cause) {
    if (!(cause instanceof DOMException)) throw cause
  }
}

/** A printer from the steps of its cable, which may fail with an error of the browser. */
export function createPrinter(steps: {
  choose(): Promise<void>
  print(bytes: Uint8Array<ArrayBuffer>): Promise<void>
}): Printer {
  return {
    async choose() {
      try {
        await steps.choose()
        return true
      } catch (cause) {
        // The person closed the list.
        if (cause instanceof DOMException && cause.name === 'NotFoundError') return false
        throw troubleOf(cause)
      }
    },
    async print(bytes) {
      try {
        await steps.print(bytes)
      } catch (cause) {
        throw troubleOf(cause)
      }
    },
  }
}

/** The trouble behind a failure of WebUSB or Web Serial. */
function troubleOf(cause: unknown): PrinterError {
  if (cause instanceof PrinterError) return cause
  // Both report by the name of a DOMException, or as a TypeError for a closed stream.
  const name = cause instanceof Error ? cause.name : ''
  // Pulled out before or during a ticket.
  if (/^(NotFoundError|NetworkError)$/.test(name)) return new PrinterError('gone', cause)
  if (/^(SecurityError|InvalidStateError|NotAllowedError)$/.test(name)) {
    return new PrinterError('busy', cause)
  }
  return new PrinterError('failed', cause)
}
