/** A coupon as a picture. It is drawn on the device, so the nonce reaches no other program. */

import type { VoucherTerms } from '../../client/voucher-terms.ts'
import { saveFile } from '../browser/clipboard.ts'
import { couponLink } from '../browser/share.ts'
import { benefitBadge, benefitText, plainBenefitText } from '../words/benefit-text.ts'
import { untilText } from '../words/until.ts'
import { drawQr } from './qr-code.tsx'

const width = 1080
const height = 1620
const room = width - 2 * 90
const font = 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif'

type Pictured = Pick<VoucherTerms, 'name' | 'coupon' | 'nonce' | 'expiresAt'>

/** Download the coupon as a PNG. */
export async function saveImage(held: Pictured, who: string): Promise<void> {
  const canvas = document.createElement('canvas')
  canvas.width = width
  canvas.height = height
  const context = canvas.getContext('2d')
  if (!context) return
  paint(context, held, who)
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/png'))
  if (blob) saveFile(`${fileName(held.name)}.png`, blob)
}

function paint(context: CanvasRenderingContext2D, held: Pictured, who: string): void {
  context.fillStyle = '#faf7f2'
  context.fillRect(0, 0, width, height)
  context.fillStyle = '#0d6650'
  context.fillRect(0, 0, width, 330)
  context.textAlign = 'center'
  context.fillStyle = '#ffffff'
  line(context, benefitBadge(held.coupon), 205, 150, 800)
  line(context, who, 280, 44, 500)
  context.fillStyle = '#211d18'
  const benefit = benefitText(held.coupon)
  const name = fitted(context, held.name, 68, 700)
  const parts =
    plainBenefitText(held.coupon) === held.name ? [name] : [name, fitted(context, benefit, 42, 500)]
  paintBetween(context, parts, 330, 590)
  paintQr(context, couponLink(held.nonce), 800)
  context.fillStyle = '#625a4f'
  line(context, untilText(held.expiresAt), height - 110, 40, 500)
}

/** Draw one line, shrunk until it fits. */
function line(
  context: CanvasRenderingContext2D,
  text: string,
  y: number,
  size: number,
  weight: number,
): void {
  context.font = `${weight} ${size}px ${font}`
  const wide = wideOf(context, text)
  if (wide > room) context.font = `${weight} ${Math.floor((size * room) / wide)}px ${font}`
  context.fillText(text, width / 2, y, room)
}

type Part = { lines: string[]; size: number; weight: number }
const linesMax = 2
const smallest = 26

/** Break a text into two lines at most, in the largest letters that fit. */
function fitted(
  context: CanvasRenderingContext2D,
  text: string,
  largest: number,
  weight: number,
): Part {
  for (let size = largest; ; size -= 2) {
    context.font = `${weight} ${size}px ${font}`
    const lines = wrapped(context, text)
    const fits = lines.length <= linesMax && lines.every((one) => wideOf(context, one) <= room)
    if (fits || size <= smallest) return { lines: lines.slice(0, linesMax), size, weight }
  }
}

function wrapped(context: CanvasRenderingContext2D, text: string): string[] {
  const lines: string[] = []
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1)
    const longer = `${last} ${word}`
    if (last !== undefined && wideOf(context, longer) <= room) lines[lines.length - 1] = longer
    else lines.push(word)
  }
  return lines
}

function wideOf(context: CanvasRenderingContext2D, text: string): number {
  return context.measureText(text).width
}

/** Draw the parts below each other, centred between two heights. */
function paintBetween(
  context: CanvasRenderingContext2D,
  parts: readonly Part[],
  top: number,
  bottom: number,
): void {
  const gap = 16
  const high = parts.reduce((sum, { lines, size }) => sum + lines.length * size * 1.15 + gap, -gap)
  let y = (top + bottom - high) / 2
  for (const { lines, size, weight } of parts) {
    context.font = `${weight} ${size}px ${font}`
    for (const text of lines) {
      y += size * 1.15
      context.fillText(text, width / 2, y - size * 0.25, room)
    }
    y += gap
  }
}

function paintQr(context: CanvasRenderingContext2D, text: string, side: number): void {
  const { size, path } = drawQr(text)
  const quiet = 4
  const scale = Math.floor(side / (size + 2 * quiet))
  const whole = scale * (size + 2 * quiet)
  const x = Math.round((width - whole) / 2)
  const y = 590
  context.fillStyle = '#ffffff'
  context.fillRect(x, y, whole, whole)
  context.save()
  context.translate(x + quiet * scale, y + quiet * scale)
  context.scale(scale, scale)
  context.fillStyle = '#000000'
  context.fill(new Path2D(path))
  context.restore()
}

function fileName(name: string): string {
  const plain = name.normalize('NFD').replace(/\p{M}/gu, '')
  return plain.replace(/[^\w]+/g, '-').replace(/^-|-$/g, '') || 'cupon'
}
