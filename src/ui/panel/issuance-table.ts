import { clientLimits } from '../../base/limits-client.ts'
import { listBatches, listIssuances } from '../../client/management.ts'
import type { Issuance } from '../../client/models.ts'
import { batchWords as t } from '../words/batches.ts'
import type { Cell } from './csv.ts'
import { issuerText } from './issuer-text.ts'
import { localTime } from './local-time.ts'
import { session } from './state.ts'
import { shownStatus } from './tones.ts'

/** Load every voucher of a coupon as a table for a spreadsheet. */
export async function fetchIssuanceTable(couponId: string): Promise<Cell[][]> {
  const rows: Issuance[] = []
  for (let cursor: string | null = null, more = true; more; more = cursor !== null) {
    const page = await listIssuances(session, couponId, { cursor, limit: clientLimits.pageMax })
    rows.push(...page.mints)
    cursor = page.next
  }
  const batches = new Map<string, string>()
  // Most coupons have none, and the list of batches is counted by reading.
  for (
    let cursor: string | null = null, more = rows.some(({ batch }) => batch);
    more;
    more = cursor !== null
  ) {
    const page = await listBatches(session, couponId, { cursor })
    for (const { id, name } of page.batches) batches.set(id, name)
    cursor = page.next
  }
  return issuanceTable(rows, batches)
}

/** The name of the file for it. */
export function fileName(): string {
  return t('issued.file')
}

/**
 * A row for each voucher that was issued, as the figures count them: its issue, and its state after changes of hands.
 * `rows`: newest first. `batches`: their names by id. Local date and time are in the forms that every spreadsheet reads.
 */
export function issuanceTable(
  rows: readonly Issuance[],
  batches: ReadonlyMap<string, string>,
): Cell[][] {
  const lasts = new Map<string, Issuance>()
  for (const row of rows) if (!lasts.has(row.chain)) lasts.set(row.chain, row)
  const firsts = rows.filter(({ handle, chain }) => handle === chain)
  return [
    [
      t('table.date'),
      t('table.time'),
      t('issued.status'),
      t('issued.recipient'),
      t('batches.name'),
      t('issued.by'),
      t('issued.handle'),
    ],
    ...firsts.map((first) => {
      const last = lasts.get(first.chain) ?? first
      return [
        ...localTime(first.mintedAt),
        t(`status.${shownStatus(last)}`),
        first.label ?? null,
        batches.get(first.batch ?? '') ?? null,
        issuerText(first),
        last.handle,
      ]
    }),
  ]
}
