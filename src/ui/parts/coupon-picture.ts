/** A coupon as a picture. It is drawn on the device, so the nonce reaches no other program. */

import type { VoucherTerms } from '../../client/voucher-terms.ts'
import type { ShopColor } from '../../shops/color.ts'
import { saveFile } from '../browser/clipboard.ts'
import { loadPicture } from '../browser/load-picture.ts'
import { couponLink, shareBySystem } from '../browser/share.ts'
import { benefitBadge, benefitText, plainBenefitText, shownName } from '../words/benefit-text.ts'
import { rulesLines } from '../words/rules-text.ts'
import { untilText } from '../words/until.ts'
import { codeTextOf } from './code-text.tsx'
import { drawQr } from './qr-code.tsx'
import { shopShades } from './shop-shade.ts'

const width = 1080
const room = width - 2 * 90
const bandHeight = 330
/** The longer side of the logo, and the free height above it. */
const logoSide = 150
const logoGap = 50
/** Free height above and below a block of words. */
const space = 56
const font = 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif'

type Pictured = Pick<
  VoucherTerms,
  'name' | 'description' | 'coupon' | 'nonce' | 'expiresAt' | 'rules'
>

/** The shop in a picture: its name, colour and path of its logo. Null where unknown; the picture shows no key. */
type PicturedShop = { shop: string | null; color: ShopColor | null; logo: string | null }

/** Download the coupon as a PNG. */
export async function saveImage(held: Pictured, look: PicturedShop): Promise<boolean> {
  const blob = await pictureOf(held, look)
  if (blob) saveFile(fileName(held), blob)
  return blob !== null
}

/** Hand the picture to another program of this device; download it where that fails. False when it did not leave. */
export async function shareImage(held: Pictured, look: PicturedShop): Promise<boolean> {
  const blob = await pictureOf(held, look)
  const name = fileName(held)
  if (!blob) return false
  const went = await shareBySystem({ files: [new File([blob], name, { type: blob.type })] })
  if (went === 'refused') saveFile(name, blob)
  return went !== 'closed'
}

async function pictureOf(
  held: Pictured,
  { shop, color, logo }: PicturedShop,
): Promise<Blob | null> {
  const canvas = document.createElement('canvas')
  const context = canvas.getContext('2d')
  if (!context) return null
  const band = color ? shopShades[color][0] : '#0d6650'
  paint(canvas, context, held, { shop, band, logo: await loadPicture(logo) })
  return new Promise((resolve) => canvas.toBlob(resolve, 'image/png'))
}

/** As high as its words need: nothing that limits the benefit is cut. */
function paint(
  canvas: HTMLCanvasElement,
  context: CanvasRenderingContext2D,
  held: Pictured,
  { shop, band, logo }: { shop: string | null; band: string; logo: HTMLImageElement | null },
): void {
  const { description, coupon, nonce, expiresAt, rules } = held
  const name = shownName(held.name, coupon)
  const code = codeOf(couponLink(nonce), 800)
  const benefit = benefitText(coupon)
  const promise = [fitted(context, name, { largest: 68, smallest: 44, lines: 2, weight: 700 })]
  if (plainBenefitText(coupon) !== name) {
    promise.push(fitted(context, benefit, { largest: 42, smallest: 30, lines: 2, weight: 500 }))
  }
  const terms = [
    fitted(context, codeTextOf(nonce), { largest: 40, smallest: 32, lines: 1, weight: 600 }),
    fitted(context, untilText(expiresAt), { largest: 40, smallest: 40, lines: 1, weight: 500 }),
    ...rulesLines(rules).map((line) =>
      fitted(context, line, { largest: 34, smallest: 28, lines: 2, weight: 500 }),
    ),
    fitted(context, description, { largest: 34, smallest: 28, lines: 3, weight: 400 }),
  ]
  const promiseHeight = Math.max(260, heightOf(promise) + 2 * space)
  const bandTop = logo ? logoSide + logoGap : 0
  const bandHigh = bandHeight + bandTop
  const codeTop = bandHigh + promiseHeight
  const termsTop = codeTop + code.side
  canvas.width = width
  // A change of its size empties a canvas.
  canvas.height = termsTop + heightOf(terms) + 2 * space
  context.fillStyle = '#faf7f2'
  context.fillRect(0, 0, width, canvas.height)
  context.fillStyle = band
  context.fillRect(0, 0, width, bandHigh)
  if (logo) paintLogo(context, logo)
  context.textAlign = 'center'
  context.fillStyle = '#ffffff'
  line(context, benefitBadge(coupon), bandTop + (shop === null ? 215 : 205), 150, 800)
  if (shop !== null) line(context, shop, bandTop + 280, 44, 500)
  context.fillStyle = '#211d18'
  paintParts(context, promise, bandHigh + (promiseHeight - heightOf(promise)) / 2)
  paintQr(context, code, codeTop)
  context.fillStyle = '#625a4f'
  paintParts(context, terms, termsTop + space)
}

/** The logo in the middle of the band, above the benefit, on white: it may have the colour of the band. */
function paintLogo(context: CanvasRenderingContext2D, logo: HTMLImageElement): void {
  const scale = Math.min(1, logoSide / Math.max(logo.naturalWidth, logo.naturalHeight))
  const [wide, high] = [logo.naturalWidth * scale, logo.naturalHeight * scale]
  const [x, y] = [(width - wide) / 2, logoGap + (logoSide - high) / 2]
  context.fillStyle = '#ffffff'
  context.fillRect(x - 10, y - 10, wide + 20, high + 20)
  context.drawImage(logo, x, y, wide, high)
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
type Letters = { largest: number; smallest: number; weight: number; lines: number }

/** Break a text into so many lines, in the largest letters that fit; into more at the smallest. */
function fitted(
  context: CanvasRenderingContext2D,
  text: string,
  { largest, smallest, weight, lines: wanted }: Letters,
): Part {
  for (let size = largest; ; size -= 2) {
    context.font = `${weight} ${size}px ${font}`
    const lines = wrapped(context, text)
    if (lines.length <= wanted || size <= smallest) return { lines, size, weight }
  }
}

function wrapped(context: CanvasRenderingContext2D, text: string): string[] {
  const lines: string[] = []
  for (const word of text.split(/\s+/).filter(Boolean)) {
    const last = lines.at(-1)
    const longer = `${last} ${word}`
    if (last !== undefined && wideOf(context, longer) <= room) lines[lines.length - 1] = longer
    else lines.push(...broken(context, word))
  }
  return lines
}

/** A word in pieces that are as wide as a line: some languages write without spaces. */
function broken(context: CanvasRenderingContext2D, word: string): string[] {
  if (wideOf(context, word) <= room) return [word]
  const pieces = ['']
  for (const letter of word) {
    const longer = `${pieces.at(-1)}${letter}`
    if (wideOf(context, longer) <= room) pieces[pieces.length - 1] = longer
    else pieces.push(letter)
  }
  return pieces
}

function wideOf(context: CanvasRenderingContext2D, text: string): number {
  return context.measureText(text).width
}

const lineHeight = 1.15
const gap = 16

function heightOf(parts: readonly Part[]): number {
  const filled = parts.filter(({ lines }) => lines.length > 0)
  const high = filled.reduce((sum, { lines, size }) => sum + lines.length * size * lineHeight, 0)
  return Math.ceil(high + Math.max(0, filled.length - 1) * gap)
}

/** Draw the parts below each other. */
function paintParts(context: CanvasRenderingContext2D, parts: readonly Part[], top: number): void {
  let y = top
  for (const { lines, size, weight } of parts) {
    context.font = `${weight} ${size}px ${font}`
    for (const text of lines) {
      y += size * lineHeight
      context.fillText(text, width / 2, y - size * 0.25, room)
    }
    y += gap
  }
}

type Code = { path: string; scale: number; side: number }
const quiet = 4

/** A code with its quiet zone, as large as whole pixels allow. */
function codeOf(text: string, sideMax: number): Code {
  const { size, path } = drawQr(text)
  const modules = size + 2 * quiet
  const scale = Math.floor(sideMax / modules)
  return { path, scale, side: scale * modules }
}

function paintQr(context: CanvasRenderingContext2D, { path, scale, side }: Code, y: number): void {
  const x = Math.round((width - side) / 2)
  context.fillStyle = '#ffffff'
  context.fillRect(x, y, side, side)
  context.save()
  context.translate(x + quiet * scale, y + quiet * scale)
  context.scale(scale, scale)
  context.fillStyle = '#000000'
  context.fill(new Path2D(path))
  context.restore()
}

function fileName({ name, coupon }: Pictured): string {
  const plain = shownName(name, coupon).normalize('NFD').replace(/\p{M}/gu, '')
  return `${plain.replace(/[^\w]+/g, '-').replace(/^-|-$/g, '') || 'cupon'}.png`
}
