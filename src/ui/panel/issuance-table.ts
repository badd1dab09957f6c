import { clientLimits } from '../../base/limits-client.ts'
import { listBatches, listIssuances } from '../../client/management.ts'
import type { Issuance } from '../../client/models.ts'
import { batchWords as t } from '../words/batches.ts'
import type { Cell } from './csv.ts'
import { issuerText } from './issuer-text.ts'
import { localTime } from './local-time.ts'
import { session } from './state.ts'

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

/** `batches`: their names by id. Local date and time of the issue, in the forms that every spreadsheet reads. */
export function issuanceTable(
  rows: readonly Issuance[],
  batches: ReadonlyMap<string, string>,
): Cell[][] {
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
    ...rows.map((row) => [
      ...localTime(row.mintedAt),
      t(`status.${row.status}`),
      row.label ?? null,
      batches.get(row.batch ?? '') ?? null,
      issuerText(row),
      row.handle,
    ]),
  ]
}
