/**
 * The race matrix: one operation stops after each of its statements while another runs, to its end or until it waits
 * for a lock. Answers and rows are those of one of the two orders.
 */
import { Refusal } from '../../../src/base/refusal.ts'
import type { Plan } from '../../../src/db/database.ts'
import { kindOf, type Root } from '../../../src/db/roots.ts'
import type { Databases } from '../../support/postgres-databases.ts'
import { settledOrWaiting } from '../../support/waiting.ts'
import { openWorldDatabase, type Row, type Stores, type WorldDatabase } from './database.ts'
import { fillOutbox, gatewayOperations } from './gateway-operations.ts'
import { moneyOperations, type Operations, otherOperations, type Parts } from './operations.ts'
import { linesOf } from './outcome.ts'
import { fillRelay, relayOperations } from './relay-operations.ts'
import { inSteps } from './steps.ts'
import { fillTransfers, transferOperations } from './transfer-operations.ts'
import { walletOperations } from './wallet-operations.ts'
import { createWallet, fillWallet } from './wallet-world.ts'
import { createServices, fillWorld } from './world.ts'

export type Pair = readonly [first: string, second: string]

/** An interleaving whose outcome is that of no order. */
export type Problem = { pair: Pair; after: number; difference: string[] }

type Answer = { kind: string; value: unknown }

/** `wallet`: with the rows and operations of the wallet. Each run takes longer with them. */
export async function openMatrix(databases: Databases, { wallet = false } = {}) {
  const database = await openWorldDatabase(databases)
  const { engine, looking } = database
  const plain = createServices(engine)
  const world = await fillWorld(engine, plain)
  const metered = createServices(engine, true)
  const parts = { world, plain, metered, engine }
  const all: Operations = { ...moneyOperations(parts), ...otherOperations(parts) }
  const queued = await fillOutbox(parts, looking)
  Object.assign(all, gatewayOperations(parts, queued))
  Object.assign(all, relayOperations(parts, await fillRelay(parts)))
  const foreign = await fillTransfers(parts)
  Object.assign(all, transferOperations(parts, foreign))
  const ofWallet = wallet ? await openWallet({ world, plain, engine }) : null
  Object.assign(all, ofWallet?.operations)
  await database.keep()
  const before = await database.rows()
  const baseline = new Set(before.map(({ text }) => text))
  const known = wordsIn(
    JSON.stringify(
      [before.map(({ value }) => value), world, foreign, ofWallet?.known],
      (_, value) => (value instanceof Uint8Array ? value.toHex() : value),
    ),
  )
  known.add(plain.signer.pubkey)
  let restored = 0
  // The spread of waits: two runs end with the same rows.
  const { random } = Math
  Math.random = () => 0

  const operation = (name: string) => {
    const found = all[name]
    if (!found) throw new Error(`no operation ${name}`)
    return found
  }

  async function restore(): Promise<void> {
    await database.restore()
    if (++restored % 300 === 0) await database.clean()
  }

  /** The lines of a state and of the answers that led to it. */
  async function outcome(answers: readonly (readonly [string, Answer])[]): Promise<string[]> {
    const rows = await database.rows()
    const found = new Set(rows.map(({ text }) => text))
    return linesOf(
      [
        ...answers.map(([name, { kind, value }]) => [`${name}: ${kind}`, value] as const),
        ...rows.filter(({ text }) => !baseline.has(text)).map(lineOfRow),
        ...before
          .filter(({ text }) => !found.has(text))
          .map(({ table, value }) => {
            return [`without ${table}`, value] as const
          }),
        ...(await phasesIn(engine, rows)),
      ],
      known,
    )
  }

  /** One after the other. */
  async function serial(pair: Pair, order: readonly [0, 1] | readonly [1, 0]): Promise<string[]> {
    await restore()
    const answers: (readonly [string, Answer])[] = []
    for (const place of order) {
      answers[place] = [`${place}`, await answerOf(operation(pair[place])())]
    }
    return outcome(answers)
  }

  /** The outcome if the first one stops there. Null if it ends before. */
  async function interleaved(
    pair: Pair,
    { after, locked }: { after: number; locked: boolean },
  ): Promise<string[] | null> {
    await restore()
    const first = inSteps(operation(pair[0]), { after, locked })
    const answering = answerOf(first.done)
    const stopped = await Promise.race([
      first.steps.stopped.then(() => true),
      answering.then(() => false),
    ])
    if (!stopped) return null
    const second = answerOf(inSteps(operation(pair[1]), { locked }).done)
    await settledOrWaiting(looking, second)
    first.steps.goOn()
    return outcome([
      ['0', await answering],
      ['1', await second],
    ])
  }

  return {
    database,
    names: Object.keys(all),
    /** Every interleaving of a pair; the problems, and the number of interleavings. */
    async race(pair: Pair, locked = true): Promise<{ problems: Problem[]; runs: number }> {
      const orders = [await serial(pair, [0, 1]), await serial(pair, [1, 0])]
      const problems: Problem[] = []
      for (let after = 1; ; after++) {
        const lines = await interleaved(pair, { after, locked })
        if (lines === null) return { problems, runs: after - 1 }
        if (orders.some((order) => order.join('\n') === lines.join('\n'))) continue
        problems.push({ pair, after, difference: differenceOf(lines, orders) })
      }
    },
    /** The roots of each operation when it runs alone. */
    async rootsOf(name: string): Promise<Set<string>> {
      await restore()
      const roots = await watchRoots(database, operation(name))
      // It changes deliveries of any event, and locks none.
      const unlocked = name === 'make deliveries due' ? queued.events : []
      return roots.union(new Set(unlocked.map(({ id }) => `event ${id}`)))
    },
    close() {
      Math.random = random
      return database.close()
    },
  }
}

/** The wallet of the world, and its operations. */
async function openWallet({ world, plain, engine }: Omit<Parts, 'metered'>) {
  const wallet = createWallet(engine, plain)
  const known = await fillWallet(wallet, plain.at)
  return { known, operations: walletOperations({ world, wallet, known, plain }) }
}

export type Matrix = Awaited<ReturnType<typeof openMatrix>>

/** Ordered pairs of operations that share a root, and each that one node does for all with every other. */
export async function pairsOf(matrix: Matrix, names: readonly string[]): Promise<Pair[]> {
  const roots = new Map<string, Set<string>>()
  for (const name of names) roots.set(name, await matrix.rootsOf(name))
  const pairs: Pair[] = []
  for (const [first, ofFirst] of roots) {
    for (const [second, ofSecond] of roots) {
      const forAll = ofFirst.has('instance') || ofSecond.has('instance')
      if (forAll || !ofFirst.isDisjointFrom(ofSecond)) pairs.push([first, second])
    }
  }
  return pairs
}

async function answerOf(running: Promise<unknown>): Promise<Answer> {
  try {
    return { kind: 'answered', value: await running }
  } catch (cause) {
    if (cause instanceof Refusal) return { kind: `refused ${cause.code}`, value: cause.detail }
    const { name, message } = cause as Error
    return { kind: `failed ${name} ${message}`, value: null }
  }
}

function lineOfRow({ table, value }: Row): readonly [string, unknown] {
  return [table, value]
}

/** The phase of each voucher as a client sees it: a kill changes it without a write to the row. */
async function phasesIn(engine: WorldDatabase['engine'], rows: readonly Row[]) {
  const handles = rows
    .filter(({ table }) => table === 'vouchers')
    .map(({ value }) => String(value.handle))
  return engine.snapshot((tx) =>
    Promise.all(
      handles.map(async (handle) => {
        const found = await tx.vouchers.find(Uint8Array.fromHex(handle.slice(2)))
        return ['phase', { handle, phase: found?.phase }] as const
      }),
    ),
  )
}

function differenceOf(lines: readonly string[], orders: readonly (readonly string[])[]): string[] {
  const differences = orders.map((order) => [
    ...lines.filter((line) => !order.includes(line)).map((line) => `+ ${line}`),
    ...order.filter((line) => !lines.includes(line)).map((line) => `- ${line}`),
  ])
  return differences.sort((a, b) => a.length - b.length)[0] ?? []
}

function wordsIn(text: string): Set<string> {
  return new Set(
    text.replace(/\\+x/g, ' ').match(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[\w-]{22,}/g) ??
      [],
  )
}

/** The names of the roots that an operation has. A voucher includes its chain and its definition. */
async function watchRoots(
  database: WorldDatabase,
  run: () => Promise<unknown>,
): Promise<Set<string>> {
  const { engine } = database
  const roots: Root[] = []
  const transact = engine.transact
  engine.transact = function (this: typeof engine, plan: Plan<Stores>, operation) {
    if (plan.roots !== 'none') roots.push(...plan.roots)
    return transact.call(this, plan, (tx) =>
      operation({
        ...tx,
        lock: (...more) => {
          roots.push(...more)
          return tx.lock(...more)
        },
      }),
    ) as never
  } as typeof transact
  try {
    await answerOf(run())
  } finally {
    engine.transact = transact
  }
  const names = new Set<string>()
  for (const root of roots) for (const name of await namesOf(database, root)) names.add(name)
  return names
}

async function namesOf({ engine, looking }: WorldDatabase, root: Root): Promise<string[]> {
  if (typeof root === 'string') return [root]
  if ('voucher' in root) {
    const found = await engine.snapshot((tx) => tx.vouchers.find(root.voucher))
    return found ? [`chain ${found.rootId}`, `definition ${found.couponId}`] : []
  }
  if ('queued' in root) {
    const text = `SELECT encode(event_id, 'hex') AS id FROM outbox WHERE id = $1`
    const { rows } = await looking.send(text, [root.queued])
    return rows.map(({ id }) => `event ${id}`)
  }
  if ('scan' in root) return [`scan ${root.scan}`, ...(await cardOf(engine, root))]
  if ('payment' in root) return [`payment ${root.payment}`, ...(await cardOf(engine, root))]
  const key = Object.entries(root).find(([name]) => name === kindOf(root))?.[1]
  return [`${kindOf(root)} ${key instanceof Uint8Array ? key.toHex() : key}`]
}

/** The card that a scan or a payment includes. */
async function cardOf(
  engine: WorldDatabase['engine'],
  root: { scan: string } | { payment: number },
) {
  return engine.snapshot(async (tx) => {
    const found =
      'scan' in root ? await tx.scans.find(root.scan) : await tx.payments.findById(root.payment)
    const card = found && (await tx.cards.findById(found.cardId))
    return card ? [`card ${card.cid}`] : []
  })
}
