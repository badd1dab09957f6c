import { useState } from 'preact/hooks'
import { clientLimits } from '../../base/limits-client.ts'
import { listBatches } from '../../client/management.ts'
import type { Batch, Definition } from '../../client/models.ts'
import { useAttempt } from '../parts/attempt.ts'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/dialog.tsx'
import { Notice } from '../parts/notice.tsx'
import { say } from '../parts/toast.tsx'
import { batchWords as t } from '../words/batches.ts'
import { moment, number } from '../words/format.ts'
import { failureText } from '../words/signer.ts'
import { useReload } from './reload.ts'
import { session, voidBatch } from './state.ts'

const figures = ['issued', 'open', 'claimed', 'expired', 'voided'] as const

/** The batches of a coupon with their figures, newest first. */
export function Batches({ coupon }: { coupon: Definition }) {
  const [batches, setBatches] = useState<readonly Batch[] | null>(null)
  const [next, setNext] = useState<string | null>(null)
  const [voiding, setVoiding] = useState<Batch | null>(null)
  const { busy, failure: loadFailure, attempt } = useAttempt()
  const reloadFailure = useReload(coupon.id, async () => {
    // As many rows as were shown: a reload must not take away rows that somebody reads.
    const found = await gather(coupon.id, null, batches?.length ?? 0)
    return () => {
      setBatches(found.rows)
      setNext(found.next)
    }
  })
  const failure = reloadFailure ?? loadFailure
  const more = () =>
    void attempt(async () => {
      const found = await gather(coupon.id, next, 0)
      setBatches([...(batches ?? []), ...found.rows])
      setNext(found.next)
    })
  return (
    <div class="stack">
      {batches === null && failure === null && <p class="soft">{t('loading')}</p>}
      {batches?.length === 0 && <p class="soft">{t('batches.empty')}</p>}
      {batches !== null && batches.length > 0 && (
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
            {batches.map((batch) => (
              <Row key={batch.id} batch={batch} onVoid={() => setVoiding(batch)} />
            ))}
          </tbody>
        </table>
      )}
      {failure !== null && <Notice tone="bad">{failureText(failure)}</Notice>}
      {next !== null && (
        <Button busy={busy} onClick={more}>
          {t('issued.more')}
        </Button>
      )}
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
