/**
 * The transactions that had ended at a moment: all before `oldest`, none from `next` on, and of those between
 * them all but `running`.
 * Source: https://www.postgresql.org/docs/18/functions-info.html (`pg_snapshot`).
 */
export type Snapshot = { text: string; oldest: bigint; next: bigint; running: readonly bigint[] }

/** Read `pg_snapshot` as the server writes it: `10:20:10,14,15`. */
export function parseSnapshot(text: string): Snapshot {
  const [oldest = '', next = '', running = ''] = text.split(':')
  return {
    text,
    oldest: BigInt(oldest),
    next: BigInt(next),
    running: running === '' ? [] : running.split(',').map(BigInt),
  }
}

/** True if some transaction up to `newest` has ended between the two, as far as they tell. `later`: of the same server. */
export function hasEndedBetween(earlier: Snapshot, later: Snapshot, newest: bigint): boolean {
  if (newest >= earlier.next) return true
  return earlier.running.some((xid) => xid <= newest && !later.running.includes(xid))
}
