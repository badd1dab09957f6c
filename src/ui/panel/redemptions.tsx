import { useState } from 'preact/hooks'
import { clientLimits } from '../../base/limits-client.ts'
import { listRedemptions } from '../../client/management.ts'
import type { Definition, Redemption } from '../../client/models.ts'
import { useAttempt } from '../parts/attempt.ts'
import { Button } from '../parts/button.tsx'
import { Empty } from '../parts/empty.tsx'
import { Field, Select } from '../parts/field.tsx'
import { Notice } from '../parts/notice.tsx'
import { benefitText, shownName } from '../words/benefit-text.ts'
import { momentInTable, money, short } from '../words/format.ts'
import { shopWords as t } from '../words/shop.ts'
import { failureText } from '../words/signer.ts'
import { endOf, startOf } from './days.ts'
import { paidOf, redemptionTable } from './redemption-table.ts'
import { RowsEnd, useRows } from './rows.tsx'
import { saveCsv } from './save-csv.ts'
import { session } from './state.ts'
import { tillOf } from './till-text.ts'

type Filter = { couponId: string; from: string; to: string }
const everything: Filter = { couponId: '', from: '', to: '' }
/** Rows of the first view, and of each "more". */
const shownAtOnce = 50

/** The redemptions, newest first, with filters and an export. */
export function Redemptions({ coupons }: { coupons: readonly Definition[] }) {
  const [filter, setFilter] = useState<Filter>(everything)
  const list = useRows(JSON.stringify(filter), shownAtOnce, (start, wanted) =>
    gather(filter, start, wanted),
  )
  const exporting = useAttempt()
  const { rows } = list
  const save = () =>
    void exporting.attempt(async () => {
      // All that match, not only the rows on the screen.
      const { rows: all } = await gather(filter, null, Number.POSITIVE_INFINITY)
      saveCsv(t('redeemed.file'), redemptionTable(all))
    })
  // No redemption at all, or none that matches: the hint differs.
  const none = filter === everything ? 'redeemed.empty' : 'redeemed.none'
  return (
    <div class="stack wide">
      <div class="row apart">
        <h1>{t('redeemed.title')}</h1>
        <Button icon="download" busy={exporting.busy} onClick={save}>
          {t('redeemed.export')}
        </Button>
      </div>
      <search class="filters">
        <Select
          label={t('redeemed.coupon')}
          value={filter.couponId}
          options={[['', t('redeemed.all')], ...coupons.map(({ id, name }) => [id, name] as const)]}
          onChoose={(couponId) => setFilter({ ...filter, couponId })}
        />
        <Field
          label={t('redeemed.from')}
          type="date"
          value={filter.from}
          onText={(from) => setFilter({ ...filter, from })}
        />
        <Field
          label={t('redeemed.to')}
          type="date"
          value={filter.to}
          onText={(to) => setFilter({ ...filter, to })}
        />
      </search>
      {exporting.failure !== null && <Notice tone="bad">{failureText(exporting.failure)}</Notice>}
      {rows === null && list.failure === null && <p class="soft">{t('loading')}</p>}
      {rows?.length === 0 && (
        <Empty icon="list" title={t(none)}>
          {filter === everything && <p>{t('redeemed.empty.why')}</p>}
        </Empty>
      )}
      {rows !== null && rows.length > 0 && (
        <>
          <p class="soft small">{t('issued.handle.hint')}</p>
          <Table rows={rows} />
        </>
      )}
      <RowsEnd more={list.more} busy={list.busy} failure={list.failure} />
    </div>
  )
}

function Table({ rows }: { rows: readonly Redemption[] }) {
  // Most shops name nobody, and a card of a phone has no room for an empty line.
  const named = rows.some(({ label }) => label !== undefined)
  return (
    <table class="table">
      <thead>
        <tr>
          <th scope="col">{t('redeemed.when')}</th>
          <th scope="col">{t('redeemed.coupon')}</th>
          <th scope="col">{t('redeemed.benefit')}</th>
          {named && <th scope="col">{t('redeemed.recipient')}</th>}
          <th scope="col">{t('redeemed.till')}</th>
          <th scope="col">{t('redeemed.amount')}</th>
          <th scope="col">{t('issued.handle')}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.handle}>
            <td data-label={t('redeemed.when')} class="number">
              {momentInTable(row.claimedAt)}
            </td>
            <td data-label={t('redeemed.coupon')}>{shownName(row.name, row.benefit)}</td>
            <td data-label={t('redeemed.benefit')}>{benefitText(row.benefit)}</td>
            {named && <td data-label={t('redeemed.recipient')}>{row.label ?? '–'}</td>}
            <td data-label={t('redeemed.till')}>{tillOf(row)}</td>
            <td data-label={t('redeemed.amount')} class="number">
              {paidText(row)}
            </td>
            <td data-label={t('issued.handle')} class="mono">
              {short(row.handle)}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function paidText(row: Redemption): string {
  const paid = paidOf(row)
  if (!paid) return '–'
  return money(paid.currency === 'SAT' ? { ...paid, amount: Math.floor(paid.amount) } : paid)
}

/** Load pages until enough rows match. The service has no filters here, so this page filters. */
async function gather(filter: Filter, start: string | null, wanted: number) {
  const from = filter.from === '' ? 0 : startOf(filter.from)
  const to = filter.to === '' ? Number.POSITIVE_INFINITY : endOf(filter.to)
  const rows: Redemption[] = []
  let cursor = start
  do {
    // A filter may match few rows of a page, and an export takes all: both ask for full pages.
    const limit = filter === everything && Number.isFinite(wanted) ? 100 : clientLimits.pageMax
    const page = await listRedemptions(session, { cursor, limit })
    cursor = page.next
    for (const row of page.redemptions) {
      const here = filter.couponId === '' || row.couponId === filter.couponId
      if (here && row.claimedAt >= from && row.claimedAt <= to) rows.push(row)
    }
    // Pages are newest first, so all that follow are before the period.
    if ((page.redemptions.at(-1)?.claimedAt ?? 0) < from) cursor = null
  } while (cursor !== null && rows.length < wanted)
  return { rows, next: cursor }
}
