import uPlot from 'uplot'
import type { DayCount } from '../../client/management.ts'
import { locale } from '../browser/language.ts'
import { shopWords as t } from '../words/shop.ts'

const height = 240

/** Draw a chart of days into an element. The returned function removes it. */
export function drawChart(place: HTMLElement, days: readonly DayCount[]): () => void {
  // A canvas knows no CSS variables: the caller draws again when the theme changes.
  const colours = getComputedStyle(document.documentElement)
  const colour = (name: string) => colours.getPropertyValue(name).trim()
  const axis = {
    stroke: colour('--soft'),
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { stroke: colour('--line'), width: 1 },
    font: '12px system-ui, sans-serif',
  }
  const bars = uPlot.paths.bars?.({ size: [0.8, 28], radius: 0.2 })
  const dayName = new Intl.DateTimeFormat(locale(), {
    day: 'numeric',
    month: 'short',
    timeZone: 'UTC',
  })
  const plot = new uPlot(
    {
      width: place.clientWidth,
      height,
      // Days of the service are dates without a time, drawn in UTC so that none shifts by the local offset.
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'UTC'),
      // Without cursor and legend, which need a mouse: the table has the numbers.
      cursor: { show: false },
      legend: { show: false },
      scales: {
        // Half a day on either side, or the first and the last bar would be cut.
        x: { range: (_, min, max) => [min - 43_200, max + 43_200] },
        // At least up to 4: one voucher should not fill the whole height.
        y: { range: (_, __, max) => [0, Math.max(4, Math.ceil(max * 1.1))] },
      },
      axes: [
        {
          ...axis,
          size: 36,
          space: 70,
          // Whole days only.
          incrs: [86_400, 86_400 * 2, 86_400 * 7, 86_400 * 14, 86_400 * 30, 86_400 * 90],
          values: (_, splits) => splits.map((seconds) => dayName.format(seconds * 1000)),
        },
        {
          ...axis,
          size: 44,
          // Whole vouchers only.
          incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000],
        },
      ],
      series: [
        {},
        {
          label: t('chart.minted'),
          fill: colour('--chart-minted'),
          stroke: colour('--chart-minted'),
          points: { show: false },
          ...(bars && { paths: bars }),
        },
        {
          label: t('chart.claimed'),
          stroke: colour('--chart-claimed'),
          width: 3,
          // More points than about a month would touch each other.
          points: { show: days.length <= 31, size: 7, fill: colour('--chart-claimed') },
        },
      ],
    },
    [
      days.map(({ day }) => Date.parse(day) / 1000),
      days.map(({ minted }) => minted),
      days.map(({ claimed }) => claimed),
    ],
    place,
  )
  // A canvas does not follow its element.
  const observer = new ResizeObserver(() => plot.setSize({ width: place.clientWidth, height }))
  observer.observe(place)
  return () => {
    observer.disconnect()
    plot.destroy()
  }
}
