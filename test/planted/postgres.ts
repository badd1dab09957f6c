import { type PlantedFault, planted } from './fault.ts'

const engine = 'src/db/postgres/engine.ts'
const settlement = 'src/db/postgres/settlement.ts'
const leases = 'src/db/postgres/leases.ts'

/** Faults of the engine of PostgreSQL: roots, settlement, leases, news. */
export const postgresFaults: PlantedFault[] = [
  planted(
    'operations lock no roots',
    'test/postgres/races.test.ts',
    engine,
    '    lock(transaction, roots)\n    let kept',
    '    let kept',
  ),
  planted(
    'roots that are met on the way are not locked',
    'test/postgres/races.test.ts',
    engine,
    '        lock(transaction.running, more)\n',
    '        void more\n',
  ),
  planted(
    'the writes of a refused operation stay on PostgreSQL',
    'test/postgres/engine.test.ts',
    engine,
    '      if (kept !== null) await transaction.undo()\n',
    '',
  ),
  planted(
    'a commit whose answer got lost counts as undone',
    'test/postgres/failover.test.ts',
    settlement,
    "return rows[0]?.outcome === 'work'",
    'return rows[0]?.outcome === undefined',
  ),
  planted(
    'a commit whose answer got lost counts as done',
    ['test/postgres/failover.test.ts', 'test/postgres/faults.test.ts'],
    settlement,
    "return rows[0]?.outcome === 'work'",
    'return rows.length === 1',
  ),
  planted(
    'writes go on while commits wait for a standby',
    'test/postgres/standby.test.ts -t load',
    'src/db/postgres/pool.ts',
    "if (lane !== 'read' && !standby.free) await standby.require()",
    'void [lane, standby]',
  ),
  planted(
    'the fate of a commit is asked for while commits wait for a standby',
    'test/postgres/standby.test.ts -t load',
    settlement,
    'const verdict = await this.#standby.verdict()',
    "const verdict = (await this.#standby.verdict()) && ('free' as string)",
  ),
  planted(
    'a start ends because its standby lags',
    'test/postgres/standby.test.ts -t lags',
    'src/db/postgres/open.ts',
    'if (connected) connectedAt = now',
    'void connected',
  ),
  planted(
    'nobody is told of a standby that is away',
    'test/postgres/standby.test.ts -t stands',
    'src/app/data.ts',
    'log[level](event, { hint })',
    "if (event !== 'standby.lost') log[level](event, { hint })",
  ),
  planted(
    'a server that started again shows commits that its standby may not have',
    'test/postgres/standby.test.ts -t death',
    'src/db/postgres/confirmation.ts',
    'let confirmed = this.#confirmed === start',
    "let confirmed = start !== ''",
  ),
  planted(
    'reads are refused after their standby has confirmed a commit',
    'test/postgres/standby.test.ts -t death',
    'src/db/postgres/confirmation.ts',
    '      this.#standby.wake()\n',
    '',
  ),
  planted(
    'a caller waits until the fate of a commit is known',
    'test/postgres/silence.test.ts -t caller',
    'src/db/postgres/retry.ts',
    'setTimeout(leave, limits.databaseCallerSeconds * 1000)',
    'setTimeout(() => void leave, limits.databaseCallerSeconds * 1000)',
  ),
  planted(
    'an operation runs again after its caller was told that nobody knows',
    'test/postgres/silence.test.ts -t caller',
    'src/db/postgres/retry.ts',
    '      if (!within(limits.databaseCallerSeconds)) throw cause\n',
    '',
  ),
  planted(
    'other nodes hear of a change late or never',
    'test/postgres/news.test.ts',
    engine,
    'if (outcome.told.length > 0) this.#news.committed()',
    'if (outcome.told.length < 0) this.#news.committed()',
  ),
  planted(
    'the news of a refused operation go out',
    'test/postgres/news.test.ts',
    engine,
    'told: told.slice(0, kept?.told),',
    'told,',
  ),
  planted(
    'news of a server that started again are not read anew',
    'test/postgres/news.test.ts -t again',
    'src/db/postgres/news.ts',
    'const known = before?.start === start ? before : null',
    'const known = before',
  ),
  planted(
    'two nodes have one lease',
    ['test/postgres/engine.test.ts', 'test/postgres/nodes.test.ts'],
    leases,
    'state.held = rows[0]?.taken === true &&',
    'state.held =',
  ),
  planted(
    'a node that hears nothing keeps its lease',
    'test/postgres/silence.test.ts -t lease',
    leases,
    'held: () => held && state.held && this.#heard(),',
    'held: () => held && state.held,',
  ),
  planted(
    'a node that hangs keeps its leases at the server',
    'test/postgres/faults.test.ts -t hangs',
    leases,
    'const idleMs = limits.leaseIdleSeconds * 1000',
    'const idleMs = 0',
  ),
  planted(
    'a clock that is apart from that of the server is not noticed',
    'test/postgres/operations.test.ts',
    'src/db/postgres/server-clock.ts',
    "    if (this.apart) throw new Refusal('clock-behind', { retryAfter: 30 })\n",
    '',
  ),
]
