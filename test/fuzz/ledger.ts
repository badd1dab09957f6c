import type { Stores } from '../../src/app/stores.ts'
import type { Clock } from '../../src/base/clock.ts'
import { limits } from '../../src/base/limits.ts'
import { openSchnorr } from '../../src/crypto/schnorr.ts'
import { createHashVerifier } from '../../src/crypto/sign-event.ts'
import type { OpenDatabase } from '../../src/db/database.ts'
import { delegationHash } from '../../src/nostr/delegation.ts'
import type { NostrEvent, Signer } from '../../src/nostr/event.ts'
import { type Ledger, publishOwed, settle } from '../../src/wallet/ledger/settle.ts'
import type { Token } from '../../src/wallet/ledger/token.ts'
import { newSigner } from '../support/client.ts'
import { databaseOf } from '../support/database.ts'
import { engineIn, settleInOrder } from '../support/engine.ts'
import { newDirectory } from '../support/server.ts'
import { ModelMismatch } from './model.ts'
import type { Random } from './random.ts'

const startedAt = 1_800_000_000
const schnorr = openSchnorr()
const maximum = 8_000_000_000_000_000_000n

/** The expected answer to a start event: none, an ok, or an error whose message begins so. */
type Expected = null | 'ok' | string

/**
 * Settle `operations` random start events, beside a Map, and compare every outcome, every published
 * balance and at the end every account and the whole file. Throws `ModelMismatch`.
 */
export async function runLedger(random: Random, operations: number) {
  const directory = newDirectory()
  const world = new World(random, directory, await engineIn(directory))
  try {
    await world.declare()
    for (let done = 0; done < operations; ) {
      if (random.chance(0.2)) world.now += random.pick([1, 1, 30, 400])
      const batch = Array.from({ length: 1 + random.below(16) }, () => world.next())
      done += batch.length
      const runs = batch.map((step) => () => world.run(step))
      for (const one of await settleInOrder(directory, runs)) {
        if (one.status === 'rejected') throw one.reason
      }
      if (random.chance(0.1)) await world.tellOwed()
    }
    await world.compare()
  } finally {
    await world.close()
  }
  return { operations, settled: world.settled }
}

type Step = { name: string; event: NostrEvent; expected: Expected }

class World {
  now = startedAt
  settled = 0
  readonly #random: Random
  readonly #directory: string
  readonly #database: OpenDatabase<Stores>
  readonly #ledger: Ledger
  readonly #people: { secret: Uint8Array; signer: Signer }[]
  readonly #manager: Signer
  readonly #tokens: ReadonlyMap<string, Token>
  /** The model: amounts by token and key, and outcomes by event. */
  readonly #balances = new Map<string, bigint>()
  readonly #outcomes = new Map<string, Expected>()
  readonly #sent: NostrEvent[] = []
  /** The balances that relays would show of each account. */
  readonly #shown = new Map<string, NostrEvent>()
  #serial = 0

  constructor(random: Random, directory: string, engine: (now: Clock) => OpenDatabase<Stores>) {
    this.#random = random
    this.#directory = directory
    const secrets = Array.from({ length: 9 }, () => random.bytes(32))
    this.#people = secrets.map((secret) => ({ secret, signer: newSigner(secret) }))
    this.#manager = (this.#people[0] as { signer: Signer }).signer
    const issuers = [this.#key(0), this.#key(1)]
    this.#tokens = new Map(
      ['ARS', 'PTS', 'BTC'].map((name, at) => [
        name,
        { name, decimals: at, issuer: issuers[at % 2] as string },
      ]),
    )
    this.#database = engine(() => this.now)
    this.#ledger = {
      signer: this.#manager,
      verifyHash: createHashVerifier(schnorr),
      tokens: this.#tokens,
      broadcast: async (_, event) => this.#publish(event),
    }
  }

  async declare(): Promise<void> {
    for (const token of this.#tokens.values()) {
      await this.#database.transact({ roots: [{ terms: token.name, mode: 'changed' }] }, (tx) =>
        tx.ledger.declare(token),
      )
    }
  }

  #key(at: number): string {
    return this.#people[at]?.signer.pubkey as string
  }

  /** An event that comes now, and the outcome in the model, which has moved already. */
  next(): Step {
    const random = this.#random
    if (this.#sent.length > 0 && random.chance(0.15)) {
      const event = random.pick(this.#sent)
      return { name: 'again', event, expected: this.#judgeAgain(event) }
    }
    const event = random.chance(0.15) ? this.#delegated() : this.#plain()
    this.#sent.push(event)
    if (this.#sent.length > 2000) this.#sent.shift()
    return { name: 'new', event, expected: this.#judge(event) }
  }

  #plain(): NostrEvent {
    const { signer } = this.#random.pick(this.#people)
    return this.#sign(signer, [])
  }

  #delegated(): NostrEvent {
    const random = this.#random
    const holder = random.pick(this.#people)
    const delegatee = random.chance(0.8) ? this.#manager : random.pick(this.#people).signer
    const until = this.now + random.pick([1000, 1000, -10])
    const conditions = `kind=1112&created_at>${startedAt - 1000}&created_at<${until}`
    const signed = random.chance(0.9) ? delegatee.pubkey : this.#manager.pubkey
    const hash = Uint8Array.fromHex(delegationHash(signed, conditions))
    const token = schnorr.keypair(holder.secret).sign(hash).toHex()
    return this.#sign(delegatee, [['delegation', holder.signer.pubkey, conditions, token]])
  }

  #sign(signer: Signer, more: string[][]): NostrEvent {
    const random = this.#random
    const ledger = random.chance(0.97) ? this.#manager.pubkey : this.#key(3)
    const receiver = random.chance(0.95) ? random.pick(this.#people).signer.pubkey : 'nobody'
    const expiration = random.chance(0.1)
      ? [['expiration', String(this.now + random.pick([60, 0, -5]))]]
      : []
    const names = [...this.#tokens.keys(), ...(random.chance(0.05) ? ['USD'] : [])]
    const tokens = Object.fromEntries(
      names
        .filter(() => random.chance(0.5))
        .map((name) => [name, this.#amount()] as const)
        .slice(0, 2),
    )
    return signer.sign({
      kind: 1112,
      created_at: this.now + random.pick([0, 0, 0, 0, -500, -700, 100, 200]),
      tags: [
        ['p', ledger],
        ['p', receiver],
        ['t', 'internal-transaction-start'],
        ['n', String(this.#serial++)],
        ...expiration,
        ...more,
      ],
      content: random.chance(0.98)
        ? JSON.stringify({ tokens })
        : random.pick(['', '[]', '{"tokens":3}']),
    })
  }

  #amount(): unknown {
    const random = this.#random
    if (random.chance(0.9)) return 1 + random.below(1000)
    return random.pick([
      0,
      -5,
      1.5,
      '7',
      '007',
      '1000000000000000000',
      '1000000000000000001',
      2 ** 53,
      2 ** 53 - 1,
      null,
    ])
  }

  #judgeAgain(event: NostrEvent): Expected {
    const known = this.#outcomes.get(event.id)
    if (known !== undefined && known !== null) return known
    return this.#judge(event)
  }

  /** The rules in their order, written again in a plain form. */
  #judge(event: NostrEvent): Expected {
    const outcome = this.#rule(event)
    if (outcome !== null) this.#outcomes.set(event.id, outcome)
    return outcome
  }

  #rule(event: NostrEvent): Expected {
    const value = (name: string, at = 0) =>
      event.tags.filter(([tag]) => tag === name)[at]?.[1] ?? ''
    if (value('p') !== this.#manager.pubkey) return null
    const age = this.now - event.created_at
    if (age > 600 || age < -180) return null
    const [, holder, conditions = '', token = ''] =
      event.tags.find(([name]) => name === 'delegation') ?? []
    if (holder !== undefined) {
      const hash = Uint8Array.fromHex(delegationHash(event.pubkey, conditions))
      const good = schnorr.verify(Uint8Array.fromHex(token), hash, Uint8Array.fromHex(holder))
      const before = Number(/created_at<(\d+)/.exec(conditions)?.[1])
      const after = Number(/created_at>(\d+)/.exec(conditions)?.[1])
      const within = event.created_at > after && event.created_at < before
      const ours = event.pubkey === this.#manager.pubkey
      if (!good || !within || !ours) return 'La delegación'
    }
    const sender = holder ?? event.pubkey
    const receiver = value('p', 1)
    if (receiver === 'nobody' || receiver === sender) return 'El destinatario'
    if (value('expiration') !== '' && Number(value('expiration')) <= this.now)
      return 'La transacción'
    const amounts = this.#amountsIn(event.content)
    if (amounts === null) return 'Los montos'
    if (amounts.some(([name]) => !this.#tokens.has(name))) return 'Ese token'
    for (const [name, amount] of amounts) {
      const has = this.#balance(name, sender)
      const issuing = this.#tokens.get(name)?.issuer === sender
      if (has < amount && !issuing) return 'No alcanza'
      if (has - amount < -maximum || this.#balance(name, receiver) + amount > maximum) {
        return 'El saldo'
      }
    }
    for (const [name, amount] of amounts) {
      this.#balances.set(`${name}:${sender}`, this.#balance(name, sender) - amount)
      this.#balances.set(`${name}:${receiver}`, this.#balance(name, receiver) + amount)
    }
    return 'ok'
  }

  #amountsIn(content: string): [string, bigint][] | null {
    if (!content.startsWith('{"tokens":{')) return null
    const { tokens } = JSON.parse(content) as { tokens: Record<string, unknown> }
    const amounts = Object.entries(tokens).map(([name, amount]) => {
      const whole = typeof amount === 'number' ? Number.isSafeInteger(amount) : amount === '7'
      const large = amount === '1000000000000000000'
      return [name, whole || large ? BigInt(amount as string) : 0n] as [string, bigint]
    })
    return amounts.length > 0 && amounts.every(([, amount]) => amount > 0n) ? amounts : null
  }

  #balance(token: string, pubkey: string): bigint {
    return this.#balances.get(`${token}:${pubkey}`) ?? 0n
  }

  async run({ name, event, expected }: Step): Promise<void> {
    const outcome = await this.#database.transact({ roots: [{ event: event.id }] }, (tx) =>
      settle(this.#ledger, tx, event, this.now),
    )
    const found = outcome && (outcome.state === 'ok' ? 'ok' : (outcome.messages[0] ?? ''))
    if (name === 'new' && found === 'ok') this.settled++
    const same = expected === null ? found === null : found?.startsWith(expected)
    if (!same) this.#fail(`${name} ${JSON.stringify(event)}: wanted ${expected}, found ${found}`)
  }

  /** Replace a balance event as a relay does: the newer one stays. */
  #publish(event: NostrEvent): void {
    if (event.kind !== 31_111) return
    const d = event.tags.find(([name]) => name === 'd')?.[1] ?? ''
    const before = this.#shown.get(d)
    if (before && event.created_at <= before.created_at) this.#fail(`${d} is told out of order`)
    if (event.created_at > this.now + limits.balanceAheadSeconds) this.#fail(`${d} is far ahead`)
    this.#shown.set(d, event)
  }

  async tellOwed(): Promise<void> {
    await this.#database.transact({ roots: ['instance'] }, (tx) =>
      publishOwed(this.#ledger, tx, this.now),
    )
  }

  /** Every account as the model has it, in the file and on the relays; and a file without problems. */
  async compare(): Promise<void> {
    this.now += 10_000
    for (let owed = 1; owed > 0; ) {
      owed = await this.#database.transact({ roots: ['instance'] }, (tx) =>
        publishOwed(this.#ledger, tx, this.now),
      )
    }
    const sums = new Map<string, bigint>()
    for (const [place, amount] of this.#balances) {
      const [token = '', pubkey = ''] = place.split(':')
      const balance = await this.#database.snapshot((tx) => tx.ledger.balance(token, pubkey))
      if (balance !== amount) this.#fail(`${place} is ${balance}, not ${amount}`)
      const shown = this.#shown.get(`balance:${place}`)?.tags.find(([name]) => name === 'amount')
      if (shown?.[1] !== String(amount)) this.#fail(`relays show ${shown?.[1]} for ${place}`)
      sums.set(token, (sums.get(token) ?? 0n) + balance)
    }
    for (const [token, sum] of sums) if (sum !== 0n) this.#fail(`${token} sums to ${sum}`)
    const problems = await databaseOf(this.#directory).problems()
    if (problems.length > 0) this.#fail(problems.join('; '))
  }

  #fail(what: string): never {
    throw new ModelMismatch(`SEED=${this.#random.seed} ${what}`)
  }

  async close(): Promise<void> {
    await this.#database.close()
  }
}
