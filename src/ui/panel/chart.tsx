import { useState } from 'preact/hooks'
import { type DayCount, fetchStatistics, fetchTillStatistics } from '../../client/management.ts'
import type { Statistics, TillStatistics } from '../../client/models.ts'
import { Select } from '../parts/field.tsx'
import { Notice } from '../parts/notice.tsx'
import { dateOnPill, number } from '../words/format.ts'
import { shopWords as t } from '../words/shop.ts'
import { failureText } from '../words/signer.ts'
import { Plot } from './plot.tsx'
import { useReload } from './reload.ts'
import { overview, session, takeFigures } from './state.ts'
import { tillText } from './till-text.ts'

const ranges = ['7', '30', '90', '365'] as const
type Range = (typeof ranges)[number]

/** Vouchers minted and redeemed by day. `only`: of one coupon; without it, one can be chosen. */
export function Chart({ only }: { only?: string }) {
  const [range, setRange] = useState<Range>('30')
  const [chosen, setChosen] = useState('')
  const [statistics, setStatistics] = useState<Statistics | null>(null)
  const [tills, setTills] = useState<TillStatistics | null>(null)
  const couponId = only ?? chosen

  const failure = useReload(range, async () => {
    const [from, to] = [dayBefore(Number(range) - 1), dayBefore(0)]
    // The service counts in UTC; the offset makes its days those of this device.
    const offset = Math.round(-new Date().getTimezoneOffset() / 60)
    const period = { from, to, offset }
    const [found, byTill] = await Promise.all([
      fetchStatistics(session, period),
      only === undefined ? fetchTillStatistics(session, period) : null,
    ])
    return () => {
      setStatistics(found)
      setTills(byTill)
      takeFigures(found)
    }
  })

  // One answer has all coupons, so choosing another needs no request.
  const days = statistics ? daysOf(statistics, couponId) : null
  const minted = days?.reduce((sum, day) => sum + day.minted, 0) ?? 0
  const claimed = days?.reduce((sum, day) => sum + day.claimed, 0) ?? 0
  return (
    <section class="stack" aria-label={t('chart.title')}>
      <h2>{t('chart.title')}</h2>
      <div class="filters">
        {!only && (
          <Select
            label={t('redeemed.coupon')}
            value={chosen}
            options={[
              ['', t('redeemed.all')],
              ...(overview.value?.coupons ?? []).map(({ id, name }) => [id, name] as const),
            ]}
            onChoose={setChosen}
          />
        )}
        <Select
          label={t('chart.range')}
          value={range}
          options={ranges.map((one) => [one, t('chart.days', { n: Number(one) })])}
          onChoose={setRange}
        />
      </div>
      {failure !== null && <Notice tone="bad">{failureText(failure)}</Notice>}
      {days && minted + claimed === 0 && <p class="soft">{t('chart.none')}</p>}
      {days && minted + claimed > 0 && (
        <>
          <p class="legend-row">
            <span>{t('chart.minted')}</span>
            <span>{t('chart.claimed')}</span>
          </p>
          <Plot days={days} label={t('chart.alt', { minted, claimed })} />
          <details>
            <summary>{t('chart.table')}</summary>
            <DayTable days={days} />
          </details>
          {couponId === '' && tills && <ByTill statistics={tills} />}
        </>
      )}
    </section>
  )
}

/** Redemptions of the period by till. Hidden while no till has named itself. */
function ByTill({ statistics }: { statistics: TillStatistics }) {
  const tills = statistics.tills
    .map(({ pubkey, label, days }) => ({
      pubkey,
      name: tillText(pubkey, label),
      claimed: days.reduce((sum, day) => sum + day.claimed, 0),
    }))
    .toSorted((a, b) => b.claimed - a.claimed)
  if (tills.every(({ pubkey }) => pubkey === null)) return null
  return (
    <table class="table">
      <caption>{t('chart.tills')}</caption>
      <thead>
        <tr>
          <th scope="col">{t('redeemed.till')}</th>
          <th scope="col">{t('chart.claimed')}</th>
        </tr>
      </thead>
      <tbody>
        {tills.map(({ pubkey, name, claimed }) => (
          <tr key={pubkey ?? ''}>
            <td data-label={t('redeemed.till')}>{name}</td>
            <td data-label={t('chart.claimed')}>{number(claimed)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** The numbers of the chart. Days without events would make it long. */
function DayTable({ days }: { days: readonly DayCount[] }) {
  return (
    <table class="table">
      <thead>
        <tr>
          <th scope="col">{t('chart.day')}</th>
          <th scope="col">{t('chart.minted')}</th>
          <th scope="col">{t('chart.claimed')}</th>
        </tr>
      </thead>
      <tbody>
        {days
          .filter((day) => day.minted + day.claimed > 0)
          .map((day) => (
            <tr key={day.day}>
              <td data-label={t('chart.day')}>{dateOnPill(day.day)}</td>
              <td data-label={t('chart.minted')}>{number(day.minted)}</td>
              <td data-label={t('chart.claimed')}>{number(day.claimed)}</td>
            </tr>
          ))}
      </tbody>
    </table>
  )
}

/** Every day of the period. The service leaves out days without events, which a chart must not. */
function daysOf({ from, to, coupons }: Statistics, couponId: string): DayCount[] {
  const sums = new Map<string, DayCount>()
  for (const coupon of coupons) {
    if (couponId !== '' && coupon.couponId !== couponId) continue
    for (const { day, minted, claimed } of coupon.days) {
      const sum = sums.get(day) ?? { day, minted: 0, claimed: 0 }
      sums.set(day, { day, minted: sum.minted + minted, claimed: sum.claimed + claimed })
    }
  }
  const days: DayCount[] = []
  for (let time = Date.parse(from); time <= Date.parse(to); time += 86_400_000) {
    const day = new Date(time).toISOString().slice(0, 10)
    days.push(sums.get(day) ?? { day, minted: 0, claimed: 0 })
  }
  return days
}

/** A date some days ago on the clock of this device, `YYYY-MM-DD`. */
function dayBefore(days: number): string {
  const today = new Date()
  // Computed in UTC from the local date: a local day may have 23 or 25 hours.
  const then = Date.UTC(today.getFullYear(), today.getMonth(), today.getDate() - days)
  return new Date(then).toISOString().slice(0, 10)
}
