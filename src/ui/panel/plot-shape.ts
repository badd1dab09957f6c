import type { DayCount } from '../../client/management.ts'

/** Pixels of the picture, and of the room for the labels of its axes. */
export const plotHeight = 240
const left = 44
const bottom = 28
const top = 8
const right = 8

/** Pixels between two labels at least, on each axis. */
const labelGap = { x: 60, y: 30 }
const barWidthMax = 28
/** More points than about a month would touch each other. */
const pointsMax = 31
/** Days between two labels. */
const daySteps = [1, 2, 7, 14, 30, 90, 180]

type Label = { at: number; value: number }

/** A chart of days, in pixels. */
export type PlotShape = {
  /** The four sides of the chart within its axes. */
  box: { left: number; right: number; top: number; bottom: number }
  /** Paths of SVG. */
  bars: string
  line: string
  points: { x: number; y: number }[]
  /** `value` is the place of the day in the list. */
  dayLabels: Label[]
  countLabels: Label[]
}

/** Bars of issued and a line of redeemed vouchers. `width` is that of the whole picture. */
export function shapePlot(days: readonly DayCount[], width: number): PlotShape {
  const box = { left, right: width - right, top, bottom: plotHeight - bottom }
  const highest = Math.max(...days.map(({ minted, claimed }) => Math.max(minted, claimed)))
  // At least up to 4: one voucher should not fill the whole height.
  const most = Math.max(4, Math.ceil(highest * 1.1))
  const perCount = (box.bottom - box.top) / most
  const perDay = (box.right - box.left) / days.length
  const x = (place: number) => round(box.left + (place + 0.5) * perDay)
  const y = (count: number) => round(box.bottom - count * perCount)

  const barWidth = Math.min(barWidthMax, perDay * 0.8)
  const bar = ({ minted }: DayCount, place: number) => {
    if (minted === 0) return ''
    const curve = round(Math.min(barWidth * 0.2, minted * perCount))
    const inner = round(barWidth - 2 * curve)
    const from = round(x(place) - barWidth / 2)
    return `M${from} ${box.bottom}V${round(y(minted) + curve)}q0-${curve} ${curve}-${curve}h${inner}q${curve} 0 ${curve} ${curve}V${box.bottom}z`
  }
  const points = days.map(({ claimed }, place) => ({ x: x(place), y: y(claimed) }))

  const dayStep = daySteps.find((step) => step * perDay >= labelGap.x) ?? days.length
  const countStep = roundStep(labelGap.y / perCount)
  return {
    box,
    bars: days.map(bar).join(''),
    line: `M${points.map((point) => `${point.x} ${point.y}`).join('L')}`,
    points: days.length <= pointsMax ? points : [],
    dayLabels: days.flatMap((_, place) => {
      const at = x(place)
      // The last label must not reach out of the picture.
      const shown = place % dayStep === 0 && at <= width - labelGap.x / 2
      return shown ? [{ at, value: place }] : []
    }),
    countLabels: Array.from({ length: Math.floor(most / countStep) + 1 }, (_, place) => {
      return { at: y(place * countStep), value: place * countStep }
    }),
  }
}

/** The first of 1, 2, 5, 10, 20, 50, … that is not below a number: a label stands at whole vouchers only. */
function roundStep(least: number): number {
  const power = 10 ** Math.max(0, Math.floor(Math.log10(least)))
  return [1, 2, 5].map((one) => one * power).find((step) => step >= least) ?? 10 * power
}

function round(pixels: number): number {
  return Math.round(pixels * 10) / 10
}
