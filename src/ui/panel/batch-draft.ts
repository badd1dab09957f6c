/**
 * The batch that was typed and not issued yet: a dialog that closes by accident must not lose it. In the memory of
 * the page only, since it has the names and numbers of other people.
 */

export type BatchDraft = { count: string; name: string; list: string }

export const emptyBatch: BatchDraft = { count: '10', name: '', list: '' }

/** One at a time: the latest. */
let kept: { couponId: string; draft: BatchDraft } | null = null

export function findBatchDraft(couponId: string): BatchDraft | null {
  return kept?.couponId === couponId ? kept.draft : null
}

export function keepBatchDraft(couponId: string, draft: BatchDraft): void {
  kept = { couponId, draft }
}

export function forgetBatchDraft(): void {
  kept = null
}
