import { limits } from '../base/limits.ts'
import { Refusal } from '../base/refusal.ts'
import { isPlainName } from '../base/words.ts'
import type { Locking } from '../db/database.ts'
import type { Caller } from '../session/caller.ts'
import type { Batch } from './batch-store.ts'
import type { UncountedDefinition } from './definition-store.ts'
import { couponChanged } from './news.ts'
import { type AskedPage, cutPage, parsePage } from './page.ts'
import { ownDefinition } from './permission.ts'
import type { CouponService, CouponStores } from './service.ts'
import { parseText } from './text.ts'

/** Batch and labels of a mint, as a client sends them. */
type SentNames = {
  batch?: { id?: string; name?: string } | null
  labels?: (string | null)[] | null
}

/** `labels`: one for each voucher, null for a voucher without. Null if nothing is named. */
export type Names = {
  batch: { id: string } | { name: string } | null
  labels: readonly (string | null)[] | null
}

/** Read batch and labels of a mint. `count` is the number of vouchers, null if the client names none. Refuses `field-invalid`. */
export function parseNames({ batch, labels }: SentNames, count: number | null): Names | null {
  if (!batch && !labels) return null
  if (labels && labels.length !== (count ?? 1))
    throw new Refusal('field-invalid', { field: 'labels' })
  return { batch: batch ? parseBatch(batch) : null, labels: labels?.map(parseVoucherLabel) ?? null }
}

function parseBatch({ id, name }: { id?: string; name?: string }): Names['batch'] {
  if ((id === undefined) === (name === undefined))
    throw new Refusal('field-invalid', { field: 'batch' })
  if (id !== undefined) return { id: id.toLowerCase() }
  const text = parseText(name, { field: 'batch.name', charsMin: 1, charsMax: limits.labelCharsMax })
  if (!isPlainName(text)) throw new Refusal('field-invalid', { field: 'batch.name' })
  return { name: text }
}

function parseVoucherLabel(text: string | null): string | null {
  const label = parseText(text ?? '', { field: 'labels', charsMax: limits.labelCharsMax })
  if (label !== '' && !isPlainName(label)) throw new Refusal('field-invalid', { field: 'labels' })
  return label || null
}

/** Bytes of the names in the database, for the quota of the merchant. */
function bytesOfNames({ labels }: Names): number {
  return (labels ?? []).reduce((sum, label) => sum + 16 + Buffer.byteLength(label ?? ''), 64)
}

/**
 * File the batch and the labels of vouchers that were just issued, in their transaction. Returns the batch.
 * Refuses `batch-unknown`, `batch-full`, `batches-full`, `bytes-day-full`.
 */
export async function fileNames(
  service: CouponService,
  tx: CouponStores & Locking,
  definition: UncountedDefinition,
  names: Names,
  { issued, now }: { issued: readonly { handle: Uint8Array }[]; now: number },
): Promise<Batch | null> {
  const { batch: asked, labels } = names
  const batch = asked && (await openBatch(service, tx, definition, asked, now))
  if (batch && !(await tx.batches.take(batch.rowId, issued.length, limits.batchVouchersMax))) {
    throw new Refusal('batch-full')
  }
  for (const [at, { handle }] of issued.entries()) {
    const label = labels?.[at] ?? null
    if (batch || label !== null) tx.batches.file(handle, batch?.rowId ?? null, label)
  }
  await service.charge(tx, definition.owner, { bytes: bytesOfNames(names) })
  return batch
}

async function openBatch(
  service: CouponService,
  tx: CouponStores,
  definition: UncountedDefinition,
  asked: { id: string } | { name: string },
  now: number,
): Promise<Batch> {
  if ('id' in asked) return batchOf(tx, definition, asked.id)
  if ((await tx.batches.count(definition.rowId)) >= limits.batchesPerDefinitionMax) {
    throw new Refusal('batches-full')
  }
  const id = service.newId()
  tx.batches.insert(id, definition.rowId, asked.name, now)
  return batchOf(tx, definition, id)
}

async function batchOf(
  tx: CouponStores,
  definition: UncountedDefinition,
  id: string,
): Promise<Batch> {
  const batch = await tx.batches.find(id)
  if (batch?.definitionRowId !== definition.rowId) throw new Refusal('batch-unknown')
  return batch
}

/**
 * Batches of a definition, newest first, with their figures: issued = open + expired + claimed + voided.
 * Refuses `page-invalid`, `merchant-not-allowed`, `coupon-unknown`.
 */
export async function listBatches(
  service: CouponService,
  caller: Caller,
  couponId: string,
  asked: AskedPage,
) {
  const { limit, before } = parsePage(asked)
  // The figures are counted by reading, and a page of batches must not hold others up.
  const page = { limit: Math.min(limit, limits.batchesPerPageMax), before }
  return service.database.snapshot(async (tx) => {
    await service.requireMerchant(tx, caller)
    const definition = await ownDefinition(tx, caller, couponId)
    const { shown, next } = cutPage(await tx.batches.list(definition.rowId, page), page)
    const now = service.now()
    const batches = await Promise.all(
      shown.map(async ({ rowId, id, name, issued, createdAt }) => {
        return { id, name, createdAt, issued, ...(await tx.batches.figures(rowId, now)) }
      }),
    )
    return { batches, next }
  })
}

/** Void every open voucher of a batch, expired or not. Refuses `merchant-not-allowed`, `coupon-unknown`, `batch-unknown`. */
export function voidBatch(
  service: CouponService,
  caller: Caller,
  { couponId, batchId }: { couponId: string; batchId: string },
) {
  const roots = [{ definition: couponId, mode: 'changed' }] as const
  const rows = limits.batchVouchersMax
  return service.database.transact({ roots, first: caller.spend, rows }, async (tx) => {
    await service.requireMerchant(tx, caller)
    const definition = await ownDefinition(tx, caller, couponId)
    const batch = await batchOf(tx, definition, batchId)
    const now = service.now()
    const handles = await tx.batches.openEnds(batch.rowId, limits.batchVouchersMax)
    for (const handle of handles) {
      const voucher = await tx.vouchers.find(handle)
      if (!voucher || !(await tx.vouchers.void(voucher, now))) {
        throw new Error('an open voucher was not voided')
      }
    }
    const voided = handles.length
    const { pubkey: owner } = caller
    const change = {
      type: 'voided',
      owner,
      couponId,
      at: now,
      handle: null,
      count: voided,
    } as const
    if (voided > 0) tx.tell(couponChanged, change)
    return { voided }
  })
}
