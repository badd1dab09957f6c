/** A receipt printer that takes ESC/POS: what comes out on its paper. It fails at a command that it does not know. */
import { encodeQR } from 'qr'

export type PaperLine = { text: string; big: boolean; bold: boolean; centred: boolean }
export type Receipt = {
  lines: PaperLine[]
  /** The codes, and the dots of their sides. */
  codes: { text: string; dots: number }[]
  /** Texts and codes from top to bottom; `cut` where the knife cut. */
  paper: string[]
}

/** Code page 850 as the printer has it (published by the Unicode consortium), bytes 0x80 to 0xff. */
const page850 =
  '00C700FC00E900E200E400E000E500E700EA00EB00E800EF00EE00EC00C400C500C900E600C600F400F600F200FB00F900FF00D600DC00F800A300D800D7019200E100ED00F300FA00F100D100AA00BA00BF00AE00AC00BD00BC00A100AB00BB2591259225932502252400C100C200C000A9256325512557255D00A200A5251025142534252C251C2500253C00E300C3255A25542569256625602550256C00A400F000D000CA00CB00C8013100CD00CE00CF2518250C2588258400A600CC258000D300DF00D400D200F500D500B500FE00DE00DA00DB00D900FD00DD00AF00B400AD00B1201700BE00B600A700F700B800B000A800B700B900B300B225A000A0'
const letters = (page850.match(/.{4}/g) ?? []).map((code) =>
  String.fromCharCode(Number.parseInt(code, 16)),
)

/** Print all bytes. Throws for an unknown command, and where a line or a code is wider than the paper. */
export function printReceipt(
  bytes: Uint8Array,
  { columns, dots }: { columns: number; dots: number },
): Receipt {
  const receipt: Receipt = { lines: [], codes: [], paper: [] }
  let at = 0
  const next = () => {
    const byte = bytes[at++]
    if (byte === undefined) throw new Error('the command is not whole')
    return byte
  }
  let [page, big, bold, centred, chinese] = [-1, false, false, false, true]
  let line = ''
  let code = { model: 0, module: 0, level: 0, text: '' }
  const qrStep = (values: number[]) => {
    const [kind, step, ...rest] = values
    if (kind !== 49) throw new Error(`no such kind of code: ${kind}`)
    if (step === 0x41) code = { ...code, model: rest[0] ?? 0 }
    else if (step === 0x43) code = { ...code, module: rest[0] ?? 0 }
    else if (step === 0x45) code = { ...code, level: rest[0] ?? 0 }
    else if (step === 0x50 && rest[0] === 48) {
      code = {
        ...code,
        text: new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.from(rest.slice(1))),
      }
    } else if (step === 0x51 && rest[0] === 48) {
      const { model, module, level, text } = code
      if (model !== 50 || level !== 49 || module < 1 || module > 16) throw new Error('a wrong code')
      const modules = encodeQR(text, 'raw', { ecc: 'medium', border: 1 }).length - 2
      const side = modules * module
      // Four free modules on each side.
      if (side + 8 * module > dots) throw new Error(`a code of ${side} dots does not fit`)
      receipt.codes.push({ text, dots: side })
      receipt.paper.push(`[${text}]`)
    } else throw new Error(`no such step of a code: ${step}`)
  }
  const commands: Record<number, () => void> = {
    16: () => {
      if (next() !== 4 || next() > 4) throw new Error('no such status')
    },
    28: () => {
      if (next() !== 0x2e) throw new Error('no such command of FS')
      chinese = false
    },
    27: () => {
      const name = next()
      if (name === 0x40) [page, big, bold, centred, chinese] = [0, false, false, false, true]
      else if (name === 0x74) page = next()
      else if (name === 0x61) {
        if (line !== '') throw new Error('alignment changes at the start of a line only')
        centred = next() === 1
      } else if (name === 0x45) bold = next() === 1
      else if (name === 0x64) receipt.paper.push(...Array.from({ length: next() }, () => ''))
      else throw new Error(`no such command: ESC ${name}`)
    },
    29: () => {
      const name = next()
      if (name === 0x21) big = next() === 0x11
      else if (name === 0x56) {
        if (next() !== 66 || line !== '') throw new Error('no such cut')
        next()
        receipt.paper.push('cut')
      } else if (name === 0x28 && next() === 0x6b) {
        const length = next() + next() * 256
        qrStep(Array.from({ length }, next))
      } else throw new Error(`no such command: GS ${name}`)
    },
    10: () => {
      if (line.length > (big ? columns / 2 : columns)) throw new Error(`too wide: ${line}`)
      if (line !== '') receipt.lines.push({ text: line, big, bold, centred })
      receipt.paper.push(line)
      line = ''
    },
  }
  while (at < bytes.length) {
    const byte = next()
    const command = commands[byte]
    if (command) command()
    else if (byte < 0x20 || byte === 0x7f) throw new Error(`no such command: ${byte}`)
    else if (byte < 0x80) line += String.fromCharCode(byte)
    else if (chinese || page !== 2) throw new Error('a letter of another page')
    else line += letters[byte - 0x80]
  }
  if (line !== '') throw new Error('a line without an end')
  return receipt
}
