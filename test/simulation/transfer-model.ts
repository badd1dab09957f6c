/** Vouchers that are sent to names: what may be answered, and where they must be in the end. */
import { expired, Mismatch, type ModelVoucher, same } from './coupon-model.ts'
import type { Machine } from './machine.ts'
import type { Outcome } from './process.ts'
import type { Service } from './service.ts'

/** Judge the transaction in which a service takes its own voucher. Other transactions of a transfer move no voucher. */
export function judgeMove(machine: Machine, nonce: string) {
  return (outcome: Outcome, now: number, { made }: Service): void => {
    const voucher = machine.coupons.find(nonce)
    if ('value' in outcome) {
      if (voucher && made !== null) machine.coupons.moved(voucher, made, now)
    } else if (voucher && !/^inbox-/.test(String((outcome.refused as Error).message))) {
      machine.coupons.notLive(voucher, now)
    }
  }
}

/** Seconds that two clocks of a world are apart at most. */
const clocksApart = 600
/** The phase that a refusal tells of. A voucher that has ended stays so. */
const endedAs: Record<string, ModelVoucher['phase']> = {
  'voucher-claimed': 'claimed',
  'voucher-cancelled': 'voided',
  'voucher-refreshed': 'refreshed',
}
/** Refusals of a transfer between two services: a message got lost, or another transfer of the voucher is open. */
const betweenServices = [
  ...['address-silent', 'transfer-unclear', 'transfer-pending', 'transfer-busy', 'service-silent'],
]

/** Check the reason why a voucher was not taken. */
export function judgeNotTaken(
  code: string,
  voucher: ModelVoucher | undefined,
  { machines, elsewhere }: { machines: readonly Machine[]; elsewhere: boolean },
): void {
  if (elsewhere && betweenServices.includes(code)) return
  if (/^inbox-/.test(code)) return
  const phase = endedAs[code]
  if (voucher && phase) {
    same(`the phase of a voucher refused as ${code}`, voucher.phase, phase)
    return
  }
  const latest = Math.max(...machines.map((machine) => machine.now())) + clocksApart
  if (voucher && code === 'voucher-expired' && expired(voucher, latest)) return
  throw new Mismatch(`a voucher was not taken, as ${code}`)
}

/** Check that the vouchers that came by transfers are where they must be: once, with their holder, none lost. */
export function compareTransfers(machines: readonly Machine[]): void {
  const held = new Map<string, number>()
  for (const { disk } of machines) {
    for (const { replacement } of disk.looking
      .query<{ replacement: Uint8Array }, []>('SELECT replacement FROM transfers')
      .all()) {
      const handle = Buffer.from(replacement).toString('base64url')
      held.set(handle, (held.get(handle) ?? 0) + 1)
    }
  }
  const keys = new Set(machines.flatMap(({ transferKeys }) => [...transferKeys]))
  let moved = 0
  for (const { coupons } of machines) {
    for (const { burned, root } of coupons.vouchers) {
      if (!burned || !(burned.key === '' || keys.has(burned.key))) continue
      moved++
      if (burned.body === null) continue
      const successor = coupons.find(JSON.parse(burned.body).nonce)
      if (!successor) throw new Mismatch(`the chain ${root} ends nowhere`)
      same(`the inboxes that have ${successor.handle}`, held.get(successor.handle) ?? 0, 1)
    }
  }
  same(
    'the vouchers that moved',
    [...held.values()].reduce((sum, one) => sum + one, 0),
    moved,
  )
}
