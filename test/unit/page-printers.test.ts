/** Receipt printers at a page: chosen once, printed on at each tap, and each trouble by its name. */
import { afterEach, beforeEach, describe, expect, jest, test } from 'bun:test'
import { type Printer, PrinterError } from '../../src/ui/printer/device.ts'
import { openSerialPrinter } from '../../src/ui/printer/serial.ts'
import { openUsbPrinter } from '../../src/ui/printer/usb.ts'
import { type FakePrinter, fakeSerial, fakeUsb, type Mood } from '../support/fake-printers.ts'

const ticket = Uint8Array.from({ length: 5000 }, (_, at) => at % 251)

/** Where the name of the chosen printer is kept. */
const memory = () => {
  let kept: string | null = null
  return {
    read: () => kept,
    write(name: string) {
      kept = name
    },
  }
}

type Opened = { printer: Printer; fake: FakePrinter; again: () => Printer }

const cables: [string, () => Opened][] = [
  [
    'USB',
    () => {
      const { usb, printers } = fakeUsb()
      const chosen = memory()
      const again = () => openUsbPrinter(usb, chosen)
      return { printer: again(), fake: printers[0]!, again }
    },
  ],
  [
    'a serial port',
    () => {
      const { serial, printers } = fakeSerial()
      const again = () => openSerialPrinter(serial, () => 19200)
      return { printer: again(), fake: printers[0]!, again }
    },
  ],
]

const troubleOf = async (work: Promise<unknown>) => {
  const cause = await work.then(
    () => null,
    (error: unknown) => error,
  )
  if (cause !== null && !(cause instanceof PrinterError)) throw cause
  return cause?.trouble ?? null
}

beforeEach(() => {
  jest.useFakeTimers()
})

afterEach(() => {
  jest.useRealTimers()
})

/** Time passes until a work is done, however long it waits. */
async function sooner<T>(work: Promise<T>): Promise<T> {
  let done = false
  const ended = work.finally(() => {
    done = true
  })
  ended.catch(() => undefined)
  while (!done) {
    for (let turn = 0; turn < 20; turn++) await Promise.resolve()
    jest.advanceTimersByTime(100)
  }
  return ended
}

describe.each(cables)('by %s', (_, open) => {
  test('a printer that was chosen once prints all bytes, also on the next page', async () => {
    const { printer, fake, again } = open()
    expect(await printer.choose()).toBe(true)
    await sooner(printer.print(ticket))
    await sooner(again().print(ticket))
    expect(fake.bytes).toEqual([...ticket, ...ticket])
    expect(Math.max(...fake.pieces)).toBeLessThanOrEqual(1024)
    // Other programs may have it meanwhile.
    expect(fake.open).toBe(false)
  })

  test('a person who closes the list has chosen none', async () => {
    const { printer, fake } = open()
    fake.offered = false
    expect(await printer.choose()).toBe(false)
    expect(await troubleOf(sooner(printer.print(ticket)))).toBe('gone')
  })

  test.each<[Mood, string]>([
    ['paperless', 'paper'],
    ['stuck', 'stuck'],
    ['busy', 'busy'],
  ])('one that is %s reports %s, and prints again when it is well', async (mood, trouble) => {
    const { printer, fake } = open()
    await printer.choose()
    fake.mood = mood
    expect(await troubleOf(sooner(printer.print(ticket)))).toBe(trouble as 'paper')
    expect([fake.bytes, fake.open]).toEqual([[], false])
    fake.mood = 'fine'
    await sooner(printer.print(ticket))
    expect(fake.bytes).toEqual([...ticket])
  })

  test('one that is pulled out in the middle of a ticket is gone', async () => {
    const { printer, fake } = open()
    await printer.choose()
    fake.mood = 'pulled'
    expect(await troubleOf(sooner(printer.print(ticket)))).toBe('gone')
  })

  test('one that answers no question prints all the same', async () => {
    const { printer, fake } = open()
    await printer.choose()
    fake.mood = 'mute'
    await sooner(printer.print(ticket))
    expect(fake.bytes).toEqual([...ticket])
  })
})

test('an unplugged USB printer is gone', async () => {
  const { usb, printers } = fakeUsb()
  const printer = openUsbPrinter(usb, memory())
  await printer.choose()
  printers[0]!.mood = 'gone'
  expect(await troubleOf(sooner(printer.print(ticket)))).toBe('gone')
})

test('of two USB printers, the chosen one prints', async () => {
  const { usb, printers } = fakeUsb(2)
  const [first, second] = printers as [FakePrinter, FakePrinter]
  const chosen = memory()
  await openUsbPrinter(usb, chosen).choose()
  first.offered = false
  await openUsbPrinter(usb, chosen).choose()
  await sooner(openUsbPrinter(usb, chosen).print(ticket))
  expect([first.bytes.length, second.bytes.length]).toEqual([0, ticket.length])
})

test('of two serial ports, the one that was chosen last prints, also on the next page', async () => {
  const { serial, printers } = fakeSerial(2)
  const [first, second] = printers as [FakePrinter, FakePrinter]
  first.offered = false
  await openSerialPrinter(serial, () => 9600).choose()
  first.offered = true
  await openSerialPrinter(serial, () => 9600).choose()
  await sooner(openSerialPrinter(serial, () => 9600).print(ticket))
  expect([first.bytes.length, second.bytes.length]).toEqual([ticket.length, 0])
})

test('a serial port is opened at the chosen speed', async () => {
  const { serial, speeds } = fakeSerial()
  let speed: 9600 | 115200 = 9600
  const printer = openSerialPrinter(serial, () => speed)
  await printer.choose()
  await sooner(printer.print(ticket))
  speed = 115200
  await sooner(printer.print(ticket))
  expect(speeds).toEqual([9600, 115200])
})
