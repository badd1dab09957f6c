import { same } from './coupon-model.ts'
import type { Machine } from './machine.ts'

/** Compare the disk of a machine with its model. */
export function compareDisk(machine: Machine): void {
  const { disk, coupons } = machine
  const { looking } = disk
  const counters = looking
    .query<Record<string, unknown>, []>(
      'SELECT uuid, issued, claimed, voided FROM definitions ORDER BY id',
    )
    .values()
  const wanted = coupons.definitions.map(({ id, issued, claimed, voided }) => [
    id,
    issued,
    claimed,
    voided,
  ])
  same('the counters on the disk', counters, wanted)
  const rows = looking
    .query<{ handle: Uint8Array; phase: string; killed: number; root: Uint8Array }, []>(
      `SELECT v.handle, v.phase, coalesce(r.handle, v.handle) AS root, EXISTS (SELECT 1 FROM kills k
         WHERE k.definition_id = v.definition_id AND k.upto_voucher_id >= v.id) AS killed
       FROM vouchers v LEFT JOIN vouchers r ON r.id = v.root_id ORDER BY v.id`,
    )
    .all()
  const ends = new Map<string, number>()
  for (const [at, { phase, killed, handle, root }] of rows.entries()) {
    const found = [handleOf(handle), phase === 'minted' && killed ? 'voided' : phase]
    const model = coupons.vouchers[at]
    same('the voucher on the disk', found, [model?.handle, model?.phase])
    if (phase !== 'refreshed') ends.set(handleOf(root), (ends.get(handleOf(root)) ?? 0) + 1)
  }
  same('the number of vouchers on the disk', rows.length, coupons.vouchers.length)
  for (const [root, count] of ends) same(`the ends of the chain ${root}`, count, 1)
  for (const { id, issued, claimed, voided } of coupons.definitions) {
    const open = coupons.vouchers.filter(
      (one) => one.definition.id === id && one.phase === 'minted',
    )
    same('issued', issued, open.length + claimed + voided)
  }
  const batches = looking.query('SELECT uuid, issued FROM batches ORDER BY id').values()
  same(
    'the batches',
    batches,
    coupons.batches.map(({ id, issued }) => [id, issued]),
  )
  const posters = looking
    .query(
      `SELECT uuid, taken, (SELECT count(*) FROM poster_takes t WHERE t.poster_id = p.id),
         taken_that_day, paused FROM posters p ORDER BY id`,
    )
    .values()
  const hung = machine.posters.posters.map(({ id, takes, takenThatDay, paused }) => {
    return [id, takes.length, takes.length, takenThatDay, Number(paused)]
  })
  same('the posters on the disk', posters, hung)
  machine.ledger.compare(disk)
  machine.compareTaken()
}

function handleOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64url')
}
