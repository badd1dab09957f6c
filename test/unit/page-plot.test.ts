/** The chart of the panel: its shapes in pixels, without a browser. */
import { describe, expect, test } from 'bun:test'
import { type PlotShape, plotHeight, shapePlot } from '../../src/ui/panel/plot-shape.ts'

const dayAt = (place: number) =>
  new Date(Date.UTC(2026, 0, 1) + place * 86_400_000).toISOString().slice(0, 10)
const daysOf = (counts: [minted: number, claimed: number][]) =>
  counts.map(([minted, claimed], place) => ({ day: dayAt(place), minted, claimed }))
const sizes = [7, 30, 90, 365].flatMap((days) => [280, 700, 1100].map((width) => ({ days, width })))

describe.each(sizes)('$days days on $width pixels', ({ days, width }) => {
  const counts = Array.from({ length: days }, (_, at): [number, number] => [at * 37, at * 11])
  const shape = shapePlot(daysOf(counts), width)

  test('every bar, point and label is within the picture', () => {
    const { box, bars, line } = shape
    const [xs, ys] = placesOf(bars + line)
    expect(Math.min(...xs)).toBeGreaterThanOrEqual(box.left)
    expect(Math.max(...xs)).toBeLessThanOrEqual(box.right)
    expect(Math.min(...ys)).toBeGreaterThanOrEqual(box.top)
    expect(Math.max(...ys)).toBeLessThanOrEqual(plotHeight)
    // A name of a day, such as "31 may", has about 45 pixels.
    for (const { at } of shape.dayLabels) expect([at > 22, at < width - 22]).toEqual([true, true])
  })

  test('labels keep their distance, and there are some', () => {
    expect(shape.dayLabels.length).toBeGreaterThan(1)
    expect(shape.countLabels.length).toBeGreaterThan(2)
    expect(distanceOf(shape.dayLabels)).toBeGreaterThanOrEqual(60 - 0.2)
    expect(distanceOf(shape.countLabels)).toBeGreaterThanOrEqual(30 - 0.2)
  })
})

test('the height of a bar is its count, from the line of zero', () => {
  const { bars, box, countLabels, line } = shapePlot(
    daysOf([
      [4, 1],
      [0, 0],
      [8, 4],
    ]),
    400,
  )
  const heights = [...bars.matchAll(/V([\d.]+)q0-([\d.]+)/g)].map(([, from, curve]) => {
    return box.bottom - Number(from) + Number(curve)
  })
  // A day without a voucher has no bar.
  expect(heights).toHaveLength(2)
  expect(heights[1]).toBeCloseTo(2 * (heights[0] ?? 0), 0)
  expect(countLabels[0]).toEqual({ at: box.bottom, value: 0 })
  const four = countLabels.find(({ value }) => value === 4)
  expect(box.bottom - (heights[0] ?? 0)).toBeCloseTo(four?.at ?? 0, 0)
  const [, , last] = line.slice(1).split('L')
  expect(Number(last?.split(' ')[1])).toBeCloseTo(four?.at ?? 0, 0)
})

test.each([
  [1, [0, 1, 2, 3, 4]],
  [10, [0, 2, 4, 6, 8, 10]],
  [80, [0, 20, 40, 60, 80]],
  [1_000_000, [0, 200_000, 400_000, 600_000, 800_000, 1_000_000]],
])('%d vouchers a day are counted in round steps', (count, labels) => {
  const { countLabels } = shapePlot(daysOf([[count, 0]]), 400)
  expect(countLabels.map(({ value }) => value)).toEqual(labels)
})

test('a month has a point for each day, a year none', () => {
  const points = (days: number) =>
    shapePlot(daysOf(Array.from({ length: days }, () => [1, 1])), 700).points.length
  expect([points(31), points(32), points(365)]).toEqual([31, 0, 0])
})

/** The ends of the absolute lines of a path, apart for each axis. */
function placesOf(path: string): [xs: number[], ys: number[]] {
  const pairs = [...path.matchAll(/[ML]([\d.-]+) ([\d.-]+)/g)]
  const heights = [...path.matchAll(/V([\d.-]+)/g)].map(([, y]) => Number(y))
  return [pairs.map(([, x]) => Number(x)), [...pairs.map(([, , y]) => Number(y)), ...heights]]
}

function distanceOf(labels: PlotShape['dayLabels']): number {
  const gaps = labels.slice(1).map(({ at }, place) => Math.abs(at - (labels[place]?.at ?? 0)))
  return Math.min(...gaps)
}
