import { useState } from 'preact/hooks'
import { clientLimits } from '../../base/limits-client.ts'
import { listBatches } from '../../client/management.ts'
import type { Batch, Definition } from '../../client/models.ts'
import { Confirm } from '../parts/dialog.tsx'
import { say } from '../parts/toast.tsx'
import { batchWords as t } from '../words/batches.ts'
import { moment, number } from '../words/format.ts'
import { RowsEnd, useRows } from './rows.tsx'
import { session, voidBatch } from './state.ts'

const figures = ['issued', 'open', 'claimed', 'expired', 'voided'] as const

/** The batches of a coupon with their figures, newest first. */
export function Batches({ coupon }: { coupon: Definition }) {
  const [voiding, setVoiding] = useState<Batch | null>(null)
  const { rows, more, busy, failure } = useRows(coupon.id, 1, (start, wanted) =>
    gather(coupon.id, start, wanted),
  )
  return (
    <div class="stack">
      {rows === null && failure === null && <p class="soft">{t('loading')}</p>}
      {rows?.length === 0 && <p class="soft">{t('batches.empty')}</p>}
      {rows !== null && rows.length > 0 && (
        <table class="table">
          <thead>
            <tr>
              <th scope="col">{t('batches.name')}</th>
              <th scope="col">{t('batches.at')}</th>
              {figures.map((name) => (
                <th key={name} scope="col">
                  {t(`batches.${name}`)}
                </th>
              ))}
              <th scope="col">{t('issued.actions')}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((batch) => (
              <Row key={batch.id} batch={batch} onVoid={() => setVoiding(batch)} />
            ))}
          </tbody>
        </table>
      )}
      <RowsEnd more={more} busy={busy} failure={failure} />
      {voiding && (
        <Confirm
          title={t('batches.void.title', { name: voiding.name })}
          action={t('batches.void')}
          danger
          onClose={() => setVoiding(null)}
          onConfirm={async () => {
            // The live stream tells this list as well, which then loads its figures again.
            say(t('kill.done', { n: await voidBatch(coupon.id, voiding.id) }))
            setVoiding(null)
          }}
        >
          <p>{t('batches.void.why', { n: unspent(voiding) })}</p>
        </Confirm>
      )}
    </div>
  )
}

function Row({ batch, onVoid }: { batch: Batch; onVoid: () => void }) {
  return (
    <tr>
      <td data-label={t('batches.name')}>{batch.name}</td>
      <td data-label={t('batches.at')} class="number">
        {moment(batch.createdAt)}
      </td>
      {figures.map((name) => (
        <td key={name} data-label={t(`batches.${name}`)} class="number">
          {number(batch[name])}
        </td>
      ))}
      <td data-label={t('issued.actions')}>
        {unspent(batch) > 0 && (
          <button
            type="button"
            class="button quiet"
            aria-label={t('batches.void.label', { name: batch.name })}
            onClick={onVoid}
          >
            {t('batches.void')}
          </button>
        )}
      </td>
    </tr>
  )
}

/** Vouchers that voiding ends. */
function unspent({ open, expired }: Batch): number {
  return open + expired
}

async function gather(couponId: string, start: string | null, wanted: number) {
  const rows: Batch[] = []
  let cursor = start
  do {
    const page = await listBatches(session, couponId, {
      cursor,
      limit: clientLimits.batchesPerPageMax,
    })
    rows.push(...page.batches)
    cursor = page.next
  } while (cursor !== null && rows.length < wanted)
  return { rows, next: cursor }
}
