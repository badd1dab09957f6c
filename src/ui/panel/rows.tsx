import { useRef, useState } from 'preact/hooks'
import { useAttempt } from '../parts/attempt.ts'
import { Button } from '../parts/button.tsx'
import { Notice } from '../parts/notice.tsx'
import { couponWords as t } from '../words/coupons.ts'
import { failureText } from '../words/signer.ts'
import { useReload } from './reload.ts'

/** Rows of a list, newest first, and the cursor of those that follow; null after the last one. */
type Rows<Row> = { rows: readonly Row[]; next: string | null }

/**
 * A list that loads in pages, loads again as `useReload` does, and takes more rows at its end. `gather` loads from a
 * cursor on until it has so many rows.
 */
export function useRows<Row>(
  chosen: string,
  wanted: number,
  gather: (start: string | null, wanted: number) => Promise<Rows<Row>>,
) {
  const [shown, setShown] = useState<Rows<Row> | null>(null)
  // The rows of now, which a load that ends before the next render must see.
  const current = useRef(shown)
  const latest = useRef(gather)
  latest.current = gather
  const show = (found: Rows<Row>) => {
    current.current = found
    setShown(found)
  }
  const { busy, failure, attempt } = useAttempt()
  const reloadFailure = useReload(chosen, async () => {
    // As many rows as were shown: a reload must not take away rows that somebody reads.
    const found = await gather(null, Math.max(wanted, current.current?.rows.length ?? 0))
    return () => show(found)
  })
  const more = () =>
    void attempt(async () => {
      let before = current.current
      while (before?.next) {
        const found = await latest.current(before.next, wanted)
        if (current.current === before) {
          return show({ ...found, rows: [...before.rows, ...found.rows] })
        }
        // A reload or another search came first: these rows do not follow the ones that it shows.
        before = current.current
      }
    })
  /** Change one of the rows. Loading the list again could move the others under the finger. */
  const replace = (isIt: (row: Row) => boolean, changed: Row) => {
    const now = current.current
    if (now) show({ ...now, rows: now.rows.map((row) => (isIt(row) ? changed : row)) })
  }
  return {
    /** Null until the first ones are here. */
    rows: shown?.rows ?? null,
    replace,
    /** Null where no more follow. */
    more: shown?.next ? more : null,
    busy,
    failure: reloadFailure ?? failure,
  }
}

type EndProps = Pick<ReturnType<typeof useRows>, 'more' | 'busy' | 'failure'>

/** The end of a list: its failure, and the button for more rows. */
export function RowsEnd({ more, busy, failure }: EndProps) {
  return (
    <>
      {failure !== null && <Notice tone="bad">{failureText(failure)}</Notice>}
      {more && (
        <Button busy={busy} onClick={more}>
          {t('issued.more')}
        </Button>
      )}
    </>
  )
}
