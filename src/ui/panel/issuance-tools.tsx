import { useState } from 'preact/hooks'
import type { Definition } from '../../client/models.ts'
import { useAttempt } from '../parts/attempt.ts'
import { Button } from '../parts/button.tsx'
import { Field } from '../parts/field.tsx'
import { Notice } from '../parts/notice.tsx'
import { couponWords as t } from '../words/coupons.ts'
import { failureText } from '../words/signer.ts'
import { later } from './later.tsx'
import { saveCsv } from './save-csv.ts'

const Batches = later(async () => (await import('./batches.tsx')).Batches)

type Props = {
  coupon: Definition
  /** Whether there may be recipients to search for. */
  searched: boolean
  onSearch: (sought: string) => void
}

/** Above the list of vouchers: the batches, a search and the export. */
export function IssuanceTools({ coupon, searched, onSearch }: Props) {
  const [open, setOpen] = useState(false)
  const [typed, setTyped] = useState('')
  const { busy, failure, attempt } = useAttempt()
  const save = () =>
    void attempt(async () => {
      const { fetchIssuanceTable, fileName } = await import('./issuance-table.ts')
      saveCsv(fileName(), await fetchIssuanceTable(coupon.id))
    })
  return (
    <div class="stack">
      <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>{t('batches.title')}</summary>
        {open && <Batches coupon={coupon} />}
      </details>
      {searched && (
        <form
          onSubmit={(event) => {
            event.preventDefault()
            onSearch(typed.trim())
          }}
        >
          <Field
            label={t('issued.search')}
            type="search"
            value={typed}
            onText={(text) => {
              setTyped(text)
              // The cross of the field empties it without a submit.
              if (text === '') onSearch('')
            }}
            autoComplete="off"
            beside={<Button type="submit">{t('issued.search.do')}</Button>}
          />
        </form>
      )}
      <div class="row">
        <Button icon="download" busy={busy} onClick={save}>
          {t('issued.export')}
        </Button>
      </div>
      {failure !== null && <Notice tone="bad">{failureText(failure)}</Notice>}
    </div>
  )
}
