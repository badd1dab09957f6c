/** The size of printed coupons: nothing is cut, so long terms get smaller letters, then more paper. */

export const printFormats = ['a4', '80', '58'] as const
export type PrintFormat = (typeof printFormats)[number]

/** `wifi`: each ticket has the code of the Wi-Fi below its own, and paper for it. */
type Paper = { format: PrintFormat; wifi: boolean }

/** `long`: the words do not fit beside their code, so they flow, over several pages if they must. */
export type Fit = { scale: number; long: boolean }

/**
 * Millimetres of height for one coupon in the sizes of `print.css`; on a sheet, then those for a long one. A printer
 * may break lines otherwise than the screen, so a few stay free.
 */
const rooms: { [F in PrintFormat]: readonly number[] } = {
  a4: [53.5, 272],
  '80': [111],
  '58': [93],
}
/** Further millimetres of a ticket with the code of the Wi-Fi, as its page in `print.css`. */
const wifiRoom = 38
const pixelsPerMillimetre = 96 / 25.4
/** Factors of the largest letters. `print.css` keeps every letter readable at the smallest. */
const scales = [1, 0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.65, 0.6, 0.55, 0.5]
const smallest: Fit = { scale: 0.5, long: true }

/** The class and the style of a paper with this fit. */
export function paperLook({ format, wifi }: Paper, { scale, long }: Fit) {
  return {
    class: `paper paper-${format}${long ? ' paper-long' : ''}${wifi ? ' paper-joins' : ''}`,
    style: `--print-scale: ${scale}`,
  }
}

/** Find the largest letters in which each coupon of a paper that is laid out, but not shown, fits its room. */
export function measureFit(element: HTMLElement, paper: Paper): Fit {
  const coupons = [...element.querySelectorAll('.paper-coupon')]
  const further = paper.wifi ? wifiRoom : 0
  for (const [at, millimetres] of rooms[paper.format].entries()) {
    const [long, room] = [at > 0, (millimetres + further) * pixelsPerMillimetre]
    for (const scale of scales) {
      const look = paperLook(paper, { scale, long })
      element.className = `${look.class} paper-measured`
      element.style.cssText = look.style
      if (coupons.every((one) => one.getBoundingClientRect().height <= room)) return { scale, long }
    }
  }
  return smallest
}

export type PosterFormat = 'a4' | 'a5'

/** Millimetres of height for a poster, as its page in `poster.css`. */
const posterRooms: Record<PosterFormat, number> = { a4: 270, a5: 192 }

/** The class and the style of a poster on paper; `measured`: laid out to be measured, and not shown. */
export function posterLook(format: PosterFormat, scale: number, measured: boolean) {
  return {
    class: `paper poster-paper poster-${format}${measured ? ' paper-measured' : ''}`,
    style: `--print-scale: ${scale}`,
  }
}

/** The largest letters in which a poster that is laid out fits its page. Longer terms go on to another page. */
export function measurePoster(element: HTMLElement, format: PosterFormat): number {
  const room = posterRooms[format] * pixelsPerMillimetre
  for (const scale of scales) {
    element.style.cssText = posterLook(format, scale, true).style
    if (element.getBoundingClientRect().height <= room) return scale
  }
  return smallest.scale
}
