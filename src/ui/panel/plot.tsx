import { useEffect, useRef, useState } from 'preact/hooks'
import type { DayCount } from '../../client/management.ts'
import { locale } from '../browser/language.ts'
import { number } from '../words/format.ts'
import { plotHeight, shapePlot } from './plot-shape.ts'

type Props = { days: readonly DayCount[]; label: string }

/** The chart as a picture. Screen readers get the table, which has the same numbers. */
export function Plot({ days, label }: Props) {
  const place = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(0)
  useEffect(() => {
    const { current } = place
    if (!current) return
    const observer = new ResizeObserver(() => setWidth(current.clientWidth))
    observer.observe(current)
    return () => observer.disconnect()
  }, [])
  return (
    <div ref={place} class="plot" role="img" aria-label={label}>
      {width > 0 && <Drawing days={days} width={width} />}
    </div>
  )
}

function Drawing({ days, width }: { days: readonly DayCount[]; width: number }) {
  const { box, bars, line, points, dayLabels, countLabels } = shapePlot(days, width)
  // Days of the service are dates without a time, named in UTC so that none shifts by the local offset.
  const name = new Intl.DateTimeFormat(locale(), {
    day: 'numeric',
    month: 'short',
    timeZone: 'UTC',
  })
  return (
    <svg class="plot-drawing" width={width} height={plotHeight} aria-hidden="true">
      <path
        class="plot-grid"
        d={[
          ...countLabels.map(({ at }) => `M${box.left} ${at}H${box.right}`),
          ...dayLabels.map(({ at }) => `M${at} ${box.top}V${box.bottom}`),
        ].join('')}
      />
      <path class="plot-minted" d={bars} />
      <path class="plot-claimed" d={line} />
      {points.map(({ x, y }) => (
        <circle key={x} class="plot-point" cx={x} cy={y} r="3.5" />
      ))}
      {countLabels.map(({ at, value }) => (
        <text key={value} x={box.left - 8} y={at + 4} text-anchor="end">
          {number(value)}
        </text>
      ))}
      {dayLabels.map(({ at, value }) => (
        <text key={value} x={at} y={box.bottom + 20} text-anchor="middle">
          {name.format(Date.parse(days[value]?.day ?? ''))}
        </text>
      ))}
    </svg>
  )
}
