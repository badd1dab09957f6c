/** A coupon as a picture to keep: drawn here, so its code goes nowhere. */
import { benefitBadge, benefitText } from '../client/benefit-text.ts'
import { couponLink } from '../client/share.ts'
import { drawQr } from '../parts/qr-code.tsx'
import type { Held } from './holdings.ts'
import { untilText } from './look.ts'

const width = 1080
const height = 1620
const margin = 90
const font = 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif'

type Pictured = Pick<Held, 'name' | 'coupon' | 'nonce' | 'expiresAt'>

/** Download the coupon as a PNG. */
export async function saveImage(held: Pictured, who: string): Promise<void> {
  const canvas = document.createElement('canvas')
  canvas.width = width
  canvas.height = height
  const context = canvas.getContext('2d')
  if (!context) return
  paint(context, held, who)
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/png'))
  if (!blob) return
  const address = URL.createObjectURL(blob)
  const link = document.createElement('a')
  link.href = address
  link.download = `${fileName(held.name)}.png`
  link.click()
  // The download has its own hold on it by then.
  setTimeout(() => URL.revokeObjectURL(address), 60_000)
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
  line(context, held.name, 430, 68, 700)
  line(context, benefitText(held.coupon), 505, 42, 500)
  paintQr(context, couponLink(held.nonce), 800)
  context.fillStyle = '#625a4f'
  line(context, untilText(held.expiresAt), height - 110, 40, 500)
}

/** One line, made smaller until it fits. */
function line(
  context: CanvasRenderingContext2D,
  text: string,
  y: number,
  size: number,
  weight: number,
): void {
  context.font = `${weight} ${size}px ${font}`
  const wide = context.measureText(text).width
  const room = width - 2 * margin
  if (wide > room) context.font = `${weight} ${Math.floor((size * room) / wide)}px ${font}`
  context.fillText(text, width / 2, y, room)
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
  return plain.replace(/[^\w]+/g, '-').replace(/^-+|-+$/g, '') || 'cupon'
}
