import { type PlantedFault, planted } from './fault.ts'

/** The simulation with the seeds that find each of these faults. */
export const simulation = 'test/simulation/main.ts --seeds 150 --seed 1 --as-it-is'

/** The differential with scripts that find a fault of one engine. */
export const differential = 'test/differential/main.ts 6 --seed 1 --steps 150 --as-it-is'
/** A script that publishes a text with NUL. */
const strangeTexts = 'test/differential/main.ts 1 --seed 117 --steps 200 --as-it-is'
/** A script with so many events of a second that their order shows. */
const manyEvents = 'test/differential/main.ts 1 --seed 3002 --steps 200 --as-it-is'

/** Faults between services, over crashes and in the order of events, and faults of one engine. */
export const campaignFaults: PlantedFault[] = [
  planted(
    'a mint passes the limit and the expiry of its coupon',
    simulation,
    'src/coupons/definition-store.ts',
    '      if (archivedAt !== null || (expiresAt !== null && expiresAt <= now)) return false\n      if (maxUses === null)',
    '      if (archivedAt !== null) return false\n      if (maxUses !== 0)',
  ),
  planted(
    'two balances are told with the same second',
    simulation,
    'src/wallet/ledger/settle.ts',
    'Math.max(now, account.publishedAt + 1)',
    'Math.max(now, account.publishedAt)',
  ),
  planted(
    'a swap ends with a lost answer',
    simulation,
    'src/wallet/transfers/swap.ts',
    "    case 'unclear':\n      return later(outcome.why)\n",
    "    case 'unclear':\n      return drop(transfers, intent, { refused: new Refusal('service-silent'), nonceSent: true })\n",
  ),
  planted(
    'swaps are not resumed',
    simulation,
    'src/wallet/transfers/worker.ts',
    '      begin(service)\n      return limits',
    '      return limits',
  ),
  planted(
    'an accepted event is not queued',
    simulation,
    'src/gateway/publish.ts',
    '    const fresh = await enqueue(tx.outbox, event, targets, { now, priority })\n',
    '    const fresh = now > 0\n',
  ),
  planted(
    'a card spends 60 more than its limit',
    simulation,
    'src/wallet/cards/payments/pay.ts',
    'if (before + amount > row.amount)',
    'if (before + amount > row.amount + 60n)',
  ),
  planted(
    'the kill switch is not honoured before its sweep',
    simulation,
    'src/coupons/voucher-store.ts',
    'AND k.upto_voucher_id >= v.id ORDER BY k.upto_voucher_id LIMIT 1) AS killed_at`',
    'AND k.upto_voucher_id < 0 ORDER BY k.upto_voucher_id LIMIT 1) AS killed_at`',
  ),
  {
    name: 'neither the lookup nor the write of a k1 sees that it was used',
    edits: [
      {
        file: 'src/wallet/cards/payments/pay.ts',
        find: "  if (scan.state === 'used') throw new Refusal('k1-used')\n",
        replace: '',
      },
      {
        file: 'src/wallet/cards/scan-store.ts',
        find: "WHERE id = ? AND state = 'free' AND expires_at > ?",
        replace: 'WHERE id = ? AND expires_at > ?',
      },
    ],
    suites: [simulation],
  },
  planted(
    'a failed commit is answered as the end of the service',
    simulation,
    'src/db/sqlite.ts',
    '    for (const job of batch) job.reject(cause)\n',
    "    for (const job of batch) job.reject(new Refusal('shutting-down', { retryAfter: 5 }))\n",
  ),
  planted(
    'a voucher that another service refused is told as claimed',
    simulation,
    'src/wallet/transfers/swap.ts',
    'refused: new Refusal(outcome.code)',
    "refused: new Refusal('voucher-claimed')",
  ),
  planted(
    'the time of the newest write goes back after a failed commit',
    'test/simulation/main.ts --seeds 1 --seed 6773 --as-it-is',
    'src/db/sqlite.ts',
    "'UPDATE state SET newest_write = max(newest_write, ?) WHERE id = 1', [\n        now,",
    "'UPDATE state SET newest_write = ? WHERE id = 1', [\n        now,",
  ),
  planted(
    'a text with NUL goes to PostgreSQL as it is',
    strangeTexts,
    'src/db/postgres/connection.ts',
    '!escaped.test(value)) return value\n',
    '!escaped.test(value) || value.length > 0) return value\n',
  ),
  planted(
    'the totals of PostgreSQL stay at zero',
    differential,
    'src/db/postgres/counters.ts',
    ".map((index) => by[numbers[index] ?? ''] ?? '0')",
    ".map((index) => (table === 'totals' ? '0 * ' : '') + (by[numbers[index] ?? ''] ?? '0'))",
  ),
  planted(
    'events of one second have no order',
    manyEvents,
    'src/relay/query-store.ts',
    'ORDER BY created_at DESC, event_id LIMIT',
    'ORDER BY created_at DESC LIMIT',
  ),
]

/** Faults of the other lists that the simulation must catch, too. */
export const simulated: readonly string[] = [
  'a savepoint of a refused operation is not undone',
  'a person takes more than one from a poster',
  'the cap of a poster a day is not checked',
  'the answer of a take is given to another person with the same key',
  'a minter who may only redeem mints',
  'an answer leaves before its commit',
  'a failed commit is answered as done',
  'after a failed commit the same connection goes on',
  'a clock that is behind is not noticed',
  'a refusal undoes the replay guard, too',
  'a refresh is repeated under any key',
  'a start event that was settled is settled again',
  'funds are not checked before a transfer',
  'a second attempt of a transfer has another key',
  'silence of a relay counts as a delivery',
  'a tap is taken twice',
]

/** Faults of the other lists that the differential must catch, too. */
export const compared: readonly string[] = ['the writes of a refused operation stay on PostgreSQL']
