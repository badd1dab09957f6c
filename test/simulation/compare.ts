import { Mismatch, same } from './coupon-model.ts'
import type { Machine } from './machine.ts'

/** Compare the disk of a machine with its model. */
export function compareDisk(machine: Machine): void {
  const { disk, coupons } = machine
  const counters = disk.look('SELECT uuid, issued, claimed, voided FROM definitions ORDER BY id')
  same(
    'the counters on the disk',
    counters,
    coupons.definitions.map(({ id, issued, claimed, voided }) => [id, issued, claimed, voided]),
  )
  compareVouchers(machine)
  const batches = disk.look('SELECT uuid, issued FROM batches ORDER BY id')
  same(
    'the batches',
    batches,
    coupons.batches.map(({ id, issued }) => [id, issued]),
  )
  const posters = disk.look(
    `SELECT uuid, taken, (SELECT count(*) FROM poster_takes t WHERE t.poster_id = p.id),
       taken_that_day, paused FROM posters p ORDER BY id`,
  )
  const hung = machine.posters.posters.map(({ id, takes, takenThatDay, paused }) => {
    return [id, takes.length, takes.length, takenThatDay, Number(paused)]
  })
  same('the posters on the disk', posters, hung)
  machine.ledger.compare(disk)
  machine.compareTaken()
}

/** Compare each voucher, and check that each chain has one end and that each coupon's counters agree with them. */
function compareVouchers({ disk, coupons }: Machine): void {
  const rows = disk.look(
    `SELECT v.handle, v.phase, coalesce(r.handle, v.handle) AS root, EXISTS (SELECT 1 FROM kills k
       WHERE k.definition_id = v.definition_id AND k.upto_voucher_id >= v.id) AS killed
     FROM vouchers v LEFT JOIN vouchers r ON r.id = v.root_id ORDER BY v.id`,
  ) as [Uint8Array, string, Uint8Array, number][]
  same('the number of vouchers on the disk', rows.length, coupons.vouchers.length)
  const ends = new Set<string>()
  const open = new Map<unknown, number>()
  let chains = 0
  for (const [at, [bytes, stored, root, killed]] of rows.entries()) {
    const model = coupons.vouchers[at]
    const handle = handleOf(bytes)
    const phase = stored === 'minted' && killed ? 'voided' : stored
    if (model?.handle !== handle || model.phase !== phase) {
      same('the voucher on the disk', [handle, phase], [model?.handle, model?.phase])
    }
    if (phase === 'minted') open.set(model?.definition, (open.get(model?.definition) ?? 0) + 1)
    const chain = handleOf(root)
    if (chain === handle) chains++
    if (stored === 'refreshed') continue
    if (ends.has(chain)) throw new Mismatch(`the chain ${chain} has two ends`)
    ends.add(chain)
  }
  same('the chains with an end', ends.size, chains)
  for (const definition of coupons.definitions) {
    const { issued, claimed, voided } = definition
    same('issued', issued, (open.get(definition) ?? 0) + claimed + voided)
  }
}

function handleOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64url')
}
