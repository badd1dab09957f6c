import { createHash } from 'node:crypto'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Stores } from '../../src/app/stores.ts'
import type { Clock } from '../../src/base/clock.ts'
import { Refusal } from '../../src/base/refusal.ts'
import { claim } from '../../src/coupons/claim.ts'
import { define, edit, remove } from '../../src/coupons/define.ts'
import { issuances, mintable, overview, redemptions } from '../../src/coupons/history.ts'
import { mintVouchers } from '../../src/coupons/mint.ts'
import { authorizeMinter, removeMinter } from '../../src/coupons/minters.ts'
import { handleOf, handleText } from '../../src/coupons/nonce.ts'
import { preview } from '../../src/coupons/preview.ts'
import { refresh } from '../../src/coupons/refresh.ts'
import type { Rules } from '../../src/coupons/rules.ts'
import type { CouponService } from '../../src/coupons/service.ts'
import { statistics } from '../../src/coupons/statistics.ts'
import { sweepKilled, voidAll, voidVoucher } from '../../src/coupons/void.ts'
import type { OpenDatabase } from '../../src/db/database.ts'
import type { Caller } from '../../src/session/caller.ts'
import { newSigner, verifyEvent } from '../support/client.ts'
import { couponsAlone } from '../support/coupons-alone.ts'
import { databaseOf } from '../support/database.ts'
import { engineIn, settleInOrder } from '../support/engine.ts'
import { newDirectory } from '../support/server.ts'
import { checkInvariants } from '../support/workload.ts'
import type { Random } from './random.ts'

type ModelDefinition = {
  id: string
  owner: string
  name: string
  maxUses: number | null
  expiresAt: number | null
  rules: Rules | null
  archived: boolean
  issued: number
  claimed: number
  voided: number
}

type ModelVoucher = {
  definition: string
  nonce: string
  root: string
  name: string
  expiresAt: number | null
  rules: Rules | null
  mintedBy: string
  phase: 'minted' | 'claimed' | 'refreshed' | 'voided'
  endedAt: number | null
  /** The Idempotency-Key that burned it, and the answer that it earned. */
  burned: { key: string; body: string } | null
}

/** The expected outcome of an operation: the code of a refusal, or a check of its value. */
type Expected = { refused: string } | { check: (value: never) => unknown }

type Step = { name: string; run: () => Promise<unknown>; expected: Expected }

const owners = ['a1', 'b2', 'c3'].map((digits) => digits.repeat(32))
const keys = ['llave-numero-1', 'llave-numero-2', 'llave-numero-3']
const startedAt = 1_800_000_000
const benefit = { type: 'percent', percent: 10 } as const

/** The differences from the model, with the seed that repeats them. */
export class ModelMismatch extends Error {}

/**
 * Run `rounds` batches of random operations against the real operations on an engine, beside a Map, and compare every answer and at the end every counter and status. Throws `ModelMismatch`.
 */
export async function runModel(random: Random, rounds: number): Promise<{ operations: number }> {
  const directory = newDirectory()
  const world = new World(random, directory, await engineIn(directory))
  try {
    for (let round = 0; round < rounds; round++) {
      if (random.chance(0.3)) world.now += random.pick([1, 1, 5, 30, 600])
      if (random.chance(0.02)) await world.restart()
      const batch = Array.from({ length: 1 + random.below(8) }, () => world.nextStep())
      // The model moves when a step is made.
      const settled = await settleInOrder(
        directory,
        batch.map(({ run }) => run),
      )
      for (const [at, outcome] of settled.entries())
        compare(random.seed, batch[at] as Step, outcome)
      world.operations += batch.length
      if (random.chance(0.05)) await world.compareAll()
    }
    while (await sweepKilled(world.service)) world.operations++
    await world.compareAll()
  } finally {
    await world.close()
  }
  return { operations: world.operations }
}

function compare(seed: number, step: Step, outcome: PromiseSettledResult<unknown>): void {
  const { name, expected } = step
  const fail = (found: unknown) => {
    const wanted = 'refused' in expected ? expected.refused : 'an answer'
    throw new ModelMismatch(`SEED=${seed} ${name}: wanted ${wanted}, found ${String(found)}`)
  }
  if (outcome.status === 'rejected') {
    const code = outcome.reason instanceof Refusal ? outcome.reason.code : outcome.reason
    if (!('refused' in expected) || code !== expected.refused) fail(code)
  } else if ('refused' in expected) {
    fail(JSON.stringify(outcome.value))
  } else {
    const problem = expected.check(outcome.value as never)
    if (problem !== undefined) fail(`${JSON.stringify(outcome.value)}: ${String(problem)}`)
  }
}

class World {
  now = startedAt
  operations = 0
  readonly #random: Random
  readonly #directory: string
  readonly #engine: (now: Clock) => OpenDatabase<Stores>
  readonly #definitions = new Map<string, ModelDefinition>()
  readonly #vouchers = new Map<string, ModelVoucher>()
  readonly #answers = new Map<string, { request: string; body: string }>()
  readonly #minters = new Set<string>()
  readonly #used = new Set<string>()
  /** Both sides draw from the same sequences, so an extra draw shows in the next answer. */
  readonly #drawn = { nonce: 0, id: 0, modelNonce: 0, modelId: 0 }
  readonly service: CouponService & { database: OpenDatabase<Stores> }

  constructor(random: Random, directory: string, engine: (now: Clock) => OpenDatabase<Stores>) {
    this.#random = random
    this.#directory = directory
    this.#engine = engine
    this.service = {
      database: this.#open(),
      now: () => this.now,
      newNonce: () => this.#nonce(this.#drawn.nonce++),
      newId: () => this.#id(this.#drawn.id++),
      signer: newSigner(random.bytes(32)),
      verify: verifyEvent,
      storeKey: random.bytes(32),
      ...couponsAlone,
    }
  }

  #open(): OpenDatabase<Stores> {
    return this.#engine(() => this.now)
  }

  async restart(): Promise<void> {
    await this.service.database.close()
    this.service.database = this.#open()
  }

  async close(): Promise<void> {
    await this.service.database.close()
    const problems = await databaseOf(this.#directory).problems()
    const file = join(this.#directory, 'cuponera.db')
    if (existsSync(file)) problems.push(...checkInvariants(file))
    rmSync(this.#directory, { recursive: true, force: true })
    if (problems.length > 0) this.#mismatch('invariants', problems)
  }

  #nonce(at: number): string {
    return digest(`${this.#random.seed} nonce ${at}`).subarray(0, 16).toString('base64url')
  }

  #id(at: number): string {
    const hex = digest(`${this.#random.seed} id ${at}`).toString('hex')
    return [8, 4, 4, 4, 12].map((length, part) => hex.slice(part * 2, part * 2 + length)).join('-')
  }

  nextStep(): Step {
    const random = this.#random
    const roll = random.next()
    if (this.#definitions.size < 2 || roll < 0.05) return this.#define()
    if (roll < 0.25) return this.#mint()
    if (roll < 0.45) return this.#refresh()
    if (roll < 0.62) return this.#claim()
    if (roll < 0.72) return this.#void()
    if (roll < 0.75) return this.#voidAll()
    if (roll < 0.8) return this.#sweep()
    if (roll < 0.88) return this.#edit()
    if (roll < 0.9) return this.#remove()
    if (roll < 0.93) return this.#minter()
    return this.#preview()
  }

  #define(): Step {
    const random = this.#random
    const owner = random.pick(owners)
    const maxUses = random.pick([null, 1, 3, 20])
    const expiresAt = random.pick([null, this.now + 1, this.now + 60, this.now + 5000, this.now])
    const name = `cupón ${random.below(1000)}`
    const { caller, replayed } = this.#caller(owner)
    const rules = this.#rules()
    const fields = { name, benefit, maxUses, expiresAt, rules }
    return this.#once(
      'define',
      `define ${owner}`,
      JSON.stringify(fields),
      replayed,
      (repeat) => define(this.service, caller, fields, repeat),
      () => {
        if (expiresAt !== null && expiresAt <= this.now) return { refused: 'expiry-past' }
        if (startsTooLate({ rules, expiresAt })) return { refused: 'field-invalid' }
        const id = this.#id(this.#drawn.modelId++)
        const counters = { issued: 0, claimed: 0, voided: 0 }
        const facts = { id, owner, name, maxUses, expiresAt, rules, archived: false }
        this.#definitions.set(id, { ...facts, ...counters })
        return { check: ({ coupon }) => differs(coupon.id, id) ?? differs(coupon.minted, 0) }
      },
    )
  }

  #mint(): Step {
    const random = this.#random
    const definition = this.#someDefinition()
    const owner = random.chance(0.7) ? definition.owner : random.pick(owners)
    const couponId = random.chance(0.03) ? this.#id(-1) : definition.id
    const count = random.pick([null, null, null, 1, 2, 5])
    const { caller, replayed } = this.#caller(owner)
    return this.#once(
      `mint ${count}`,
      `mint ${owner}`,
      JSON.stringify({ couponId, count }),
      replayed,
      (repeat) => mintVouchers(this.service, caller, { couponId, count, names: null }, repeat),
      () => {
        if (couponId !== definition.id) return { refused: 'coupon-unknown' }
        const listed = this.#minters.has(`${definition.owner} ${owner}`)
        if (owner !== definition.owner && !listed) return { refused: 'mint-not-allowed' }
        if (definition.archived) return { refused: 'coupon-archived' }
        if (expired(definition, this.now)) return { refused: 'coupon-expired' }
        const { issued, voided, maxUses } = definition
        const left = maxUses === null ? Number.POSITIVE_INFINITY : maxUses - (issued - voided)
        if ((count ?? 1) > left) return { refused: 'coupon-exhausted' }
        const nonces = Array.from({ length: count ?? 1 }, () => {
          const nonce = this.#nonce(this.#drawn.modelNonce++)
          this.#issue(definition, { nonce, root: nonce, mintedBy: owner, terms: definition })
          return nonce
        })
        definition.issued += nonces.length
        return {
          check: (answer) =>
            differs(
              count === null ? [answer.nonce] : answer.vouchers.map((one: Json) => one.nonce),
              nonces,
            ),
        }
      },
    )
  }

  #refresh(): Step {
    const voucher = this.#someVoucher()
    const nonce = voucher?.nonce ?? this.#nonce(-1)
    const key = this.#random.pick(keys)
    return {
      name: 'refresh',
      run: () => refresh(this.service, { nonce, key }),
      expected: this.#expectRefresh(voucher, key),
    }
  }

  #expectRefresh(voucher: ModelVoucher | null, key: string): Expected {
    if (!voucher) return { refused: 'voucher-unknown' }
    const { burned } = voucher
    if (burned) {
      if (burned.key !== key) return { refused: 'voucher-refreshed' }
      return {
        check: ({ replayed, body }: Json) =>
          differs(replayed, true) ?? (burned.body === '' ? undefined : differs(body, burned.body)),
      }
    }
    const refused = this.#whyNotLive(voucher)
    if (refused) return { refused }
    const successor = this.#nonce(this.#drawn.modelNonce++)
    const definition = this.#definitions.get(voucher.definition) as ModelDefinition
    const { root, mintedBy } = voucher
    this.#issue(definition, { nonce: successor, root, mintedBy, terms: voucher })
    const record = { key, body: '' }
    Object.assign(voucher, { phase: 'refreshed', endedAt: this.now, burned: record })
    return {
      check: ({ replayed, body }: Json) => {
        record.body = body
        const answer = JSON.parse(body)
        return (
          differs(replayed, false) ??
          differs(answer.nonce, successor) ??
          differs(answer.expiresAt, voucher.expiresAt) ??
          differs(answer.rules ?? null, voucher.rules) ??
          differs(answer.name, voucher.name)
        )
      },
    }
  }

  #claim(): Step {
    const voucher = this.#someVoucher()
    const nonce = voucher?.nonce ?? this.#nonce(-1)
    const amountMsat = this.#random.pick([undefined, 0, 1000, -1, 1.5, 'x'])
    const owner = this.#random.pick([null, null, null, ...owners])
    const amount = this.#random.pick([0, 0, 0, 99.99, 100])
    const purchase = amount === 0 ? null : ({ amount, currency: 'ARS' } as const)
    const input = { nonce, owner, zapRequest: undefined, amountMsat, purchase }
    const run = (repeat: Parameters<typeof claim>[2]) => claim(this.service, input, repeat, null)
    if (!voucher) {
      return { name: 'claim', run: () => run(null), expected: { refused: 'voucher-unknown' } }
    }
    const request = `${amountMsat} ${amount} ${owner}`
    return this.#once('claim', `claim ${nonce}`, request, false, run, () => {
      if (owner !== null && owner !== this.#definitions.get(voucher.definition)?.owner) {
        return { refused: 'other-merchant' }
      }
      const again = voucher.phase === 'claimed'
      const refused = again ? null : (this.#whyNotLive(voucher) ?? this.#whyNotNow(voucher, amount))
      if (refused) return { refused: refused === 'voucher-refreshed' ? 'voucher-moved' : refused }
      if (!again) {
        Object.assign(voucher, { phase: 'claimed', endedAt: this.now })
        const definition = this.#definitions.get(voucher.definition) as ModelDefinition
        definition.claimed++
      }
      const claimedAt = voucher.endedAt
      return {
        kept: !again,
        check: (answer) =>
          differs(answer.status, again ? 'claimed' : 'success') ??
          differs(answer.claimedAt, claimedAt) ??
          differs(answer.voucher.created_at, claimedAt),
      }
    })
  }

  #void(): Step {
    const random = this.#random
    const voucher = this.#someVoucher()
    const definition = this.#someDefinition()
    const couponId = voucher && random.chance(0.9) ? voucher.definition : definition.id
    const owned = this.#definitions.get(couponId) as ModelDefinition
    const owner = random.chance(0.9) ? owned.owner : random.pick(owners)
    const nonce = voucher?.nonce ?? this.#nonce(-1)
    const chain = random.chance(0.4)
    const name = random.chance(0.7) ? handleText(handleOf(nonce)) : nonce
    const { caller, replayed } = this.#caller(owner)
    const expect = (): Expected => {
      if (replayed) return { refused: 'auth-replay' }
      if (owned.owner !== owner) return { refused: 'coupon-unknown' }
      if (voucher?.definition !== couponId) return { refused: 'voucher-unknown' }
      const target = chain ? this.#chainEnd(voucher.root) : voucher
      if (target.phase !== 'minted') return { refused: `voucher-${target.phase}` }
      Object.assign(target, { phase: 'voided', endedAt: this.now })
      owned.voided++
      const handle = handleText(handleOf(target.nonce))
      return {
        check: ({ mint }: Json) =>
          differs(mint.handle, handle) ?? differs(mint.chain, handleText(handleOf(target.root))),
      }
    }
    const run = () => voidVoucher(this.service, caller, { couponId, name, chain })
    return { name: `void chain=${chain}`, run, expected: expect() }
  }

  #voidAll(): Step {
    const definition = this.#someDefinition()
    const { caller, replayed } = this.#caller(definition.owner)
    const run = () => voidAll(this.service, caller, definition.id)
    if (replayed) return { name: 'void all', run, expected: { refused: 'auth-replay' } }
    let voided = 0
    for (const voucher of this.#vouchers.values()) {
      if (voucher.definition !== definition.id || voucher.phase !== 'minted') continue
      Object.assign(voucher, { phase: 'voided', endedAt: this.now })
      voided++
    }
    definition.voided += voided
    const check = (answer: Json) => differs(answer.voided, voided)
    return { name: 'void all', run, expected: { check } }
  }

  #sweep(): Step {
    // Marking must not change any answer; it marks few rows at a time, so that it stops midway.
    const rows = 1 + this.#random.below(4)
    return {
      name: 'sweep',
      run: () =>
        this.service.database.transact({ roots: ['instance'] }, async (tx) => {
          const kill = await tx.vouchers.nextKill()
          if (!kill) return
          await tx.lock({ definition: kill.couponId, mode: 'changed' })
          await tx.vouchers.sweep(kill, rows)
        }),
      expected: { check: () => undefined },
    }
  }

  #edit(): Step {
    const random = this.#random
    const definition = this.#someDefinition()
    const { caller, replayed } = this.#caller(definition.owner)
    const changes: Partial<Pick<ModelDefinition, 'maxUses' | 'expiresAt' | 'name' | 'rules'>> = {}
    const archived = random.pick([undefined, undefined, true, false, false])
    if (random.chance(0.4)) changes.maxUses = random.pick([null, 1, 5, 50])
    if (random.chance(0.4)) changes.expiresAt = random.pick([null, this.now - 5, this.now + 100])
    if (random.chance(0.3)) changes.rules = this.#rules()
    if (random.chance(0.4)) changes.name = `otro ${random.below(1000)}`
    const fields = { ...changes, ...(archived === undefined ? {} : { archived }) }
    const expect = (): Expected => {
      if (replayed) return { refused: 'auth-replay' }
      if (Object.keys(fields).length === 0) return { refused: 'nothing-to-change' }
      if (startsTooLate({ ...definition, ...changes })) return { refused: 'field-invalid' }
      Object.assign(definition, changes, archived === undefined ? {} : { archived })
      const { maxUses, name, issued, voided } = definition
      return {
        check: ({ coupon }: Json) =>
          differs(coupon.maxUses, maxUses) ??
          differs(coupon.name, name) ??
          differs(coupon.minted, issued - voided),
      }
    }
    const run = () => edit(this.service, caller, definition.id, fields)
    return { name: `edit ${JSON.stringify(fields)}`, run, expected: expect() }
  }

  #remove(): Step {
    const definition = this.#someDefinition()
    const { caller, replayed } = this.#caller(definition.owner)
    const run = () => remove(this.service, caller, definition.id)
    if (replayed) return { name: 'remove', run, expected: { refused: 'auth-replay' } }
    const deleted = definition.issued === 0
    if (deleted) this.#definitions.delete(definition.id)
    else definition.archived = true
    const check = (answer: Json) => differs(answer.deleted, deleted)
    return { name: 'remove', run, expected: { check } }
  }

  #minter(): Step {
    const owner = this.#random.pick(owners)
    const pubkey = this.#random.pick(owners.filter((one) => one !== owner))
    const listed = `${owner} ${pubkey}`
    const had = this.#minters.has(listed)
    const caller = { pubkey: owner, beganAt: 0, until: 0, spend: undefined }
    // Removing is queued at once; adding by a name would be queued too late, after the name was resolved.
    if (this.#random.chance(0.5)) {
      this.#minters.delete(listed)
      const expected: Expected = had
        ? { check: (answer: Json) => differs(answer.removed, true) }
        : { refused: 'minter-unknown' }
      return {
        name: 'remove minter',
        run: () => removeMinter(this.service, caller, pubkey),
        expected,
      }
    }
    return {
      name: 'add minter later',
      run: async () => undefined,
      expected: {
        check: () => {
          this.#later.push([owner, pubkey])
          return undefined
        },
      },
    }
  }

  readonly #later: [owner: string, pubkey: string][] = []

  #preview(): Step {
    const voucher = this.#someVoucher()
    const nonce = voucher?.nonce ?? this.#nonce(-1)
    // A read sees answered writes, not waiting ones: so it runs when none waits.
    const run = async () => {
      await this.service.database.transact({ roots: 'none' }, async () => undefined)
      return preview(this.service, nonce)
    }
    if (!voucher) return { name: 'preview', run, expected: { refused: 'voucher-unknown' } }
    const check = (text: string) => differs(JSON.parse(text).name, voucher.name)
    return { name: 'preview', run, expected: { check } }
  }

  /** An operation under the optional Idempotency-Key, which some of the time was used before. */
  #once(
    name: string,
    scope: string,
    request: string,
    replayed: boolean,
    run: (repeat: { key: string; scope: string; request: string } | null) => Promise<{
      body: string
    }>,
    expect: () =>
      | { refused: string }
      | { check: (answer: Json) => string | undefined; kept?: boolean },
  ): Step {
    const key = this.#random.chance(0.4) ? this.#random.pick(keys) : null
    const repeat = key === null ? null : { key, scope, request }
    const step = { name: `${name} key=${key}`, run: () => run(repeat) }
    if (replayed) return { ...step, expected: { refused: 'auth-replay' } }
    const kept = this.#answers.get(`${scope} ${key}`)
    if (key !== null && kept) {
      if (kept.request !== request) {
        return { ...step, expected: { refused: 'idempotency-key-reused' } }
      }
      return { ...step, expected: { check: ({ body }: Json) => differs(body, kept.body) } }
    }
    const expected = expect()
    if ('refused' in expected) return { ...step, expected }
    const record = { request, body: '' }
    if (key !== null && expected.kept !== false) this.#answers.set(`${scope} ${key}`, record)
    const check = ({ body }: Json) => {
      record.body = body
      return expected.check(JSON.parse(body))
    }
    return { ...step, expected: { check } }
  }

  #caller(pubkey: string): { caller: Caller; replayed: boolean } {
    if (this.#random.chance(0.6))
      return { caller: { pubkey, beganAt: 0, until: 0, spend: undefined }, replayed: false }
    const event = digest(`event ${this.#random.below(400)}`).toString('hex')
    const replayed = this.#used.has(event)
    this.#used.add(event)
    const spend: Caller['spend'] = async (tx) => {
      if (!(await tx.proofs.use(event, this.now + 60))) throw new Refusal('auth-replay')
    }
    return { caller: { pubkey, beganAt: 0, until: 0, spend }, replayed }
  }

  #issue(
    definition: ModelDefinition,
    from: {
      nonce: string
      root: string
      mintedBy: string
      terms: Pick<ModelVoucher, 'name' | 'expiresAt' | 'rules'>
    },
  ): void {
    const { nonce, root, mintedBy, terms } = from
    this.#vouchers.set(nonce, {
      definition: definition.id,
      nonce,
      root,
      mintedBy,
      name: terms.name,
      expiresAt: terms.expiresAt,
      rules: terms.rules,
      phase: 'minted',
      endedAt: null,
      burned: null,
    })
  }

  #whyNotLive(voucher: ModelVoucher): string | null {
    if (voucher.phase === 'voided') return 'voucher-cancelled'
    if (voucher.phase !== 'minted') return `voucher-${voucher.phase}`
    return expired(voucher, this.now) ? 'voucher-expired' : null
  }

  /** Rules that a run of the model meets open and closed: its clock goes on by some minutes. */
  #rules(): Rules | null {
    const random = this.#random
    if (random.chance(0.5)) return null
    const clock = (shift: number) => {
      return new Date((this.now + shift) * 1000).toISOString().slice(11, 16)
    }
    const days = random.pick([[1, 2, 3, 4, 5, 6, 7], [1]])
    const window = { days, from: clock(random.pick([-600, 0, 300])), to: clock(600) }
    return random.pick<Rules>([
      { startsAt: this.now + random.pick([-100, 1, 60, 600]) },
      { minimum: { amount: 100, currency: 'ARS' }, conditions: 'Sólo en efectivo' },
      { times: { timeZone: 'UTC', windows: [window] } },
      { startsAt: this.now + 30, times: { timeZone: 'UTC', windows: [window] } },
    ])
  }

  #whyNotNow({ rules }: ModelVoucher, amount: number): string | null {
    const { startsAt = 0, times, minimum } = rules ?? {}
    const [window] = times?.windows ?? []
    const clock = new Date(this.now * 1000).toISOString().slice(11, 16)
    // No window of the model goes past midnight: its clock starts at eight and runs for some hours.
    const today = new Date(this.now * 1000).getUTCDay() || 7
    const open =
      !window || (window.days.includes(today) && window.from <= clock && clock < window.to)
    if (this.now < startsAt || !open) return 'not-now'
    return minimum && amount > 0 && amount < minimum.amount ? 'minimum-not-met' : null
  }

  #chainEnd(root: string): ModelVoucher {
    for (const voucher of this.#vouchers.values()) {
      if (voucher.root === root && voucher.phase !== 'refreshed') return voucher
    }
    throw new Error('the model lost a chain')
  }

  #someDefinition(): ModelDefinition {
    return this.#random.pick([...this.#definitions.values()])
  }

  /** Recent ones more often: old vouchers have mostly ended. */
  #someVoucher(): ModelVoucher | null {
    const all = [...this.#vouchers.values()]
    if (all.length === 0 || this.#random.chance(0.02)) return null
    return this.#random.pick(this.#random.chance(0.7) ? all.slice(-12) : all)
  }

  /** Every counter, status and list agrees with the model. */
  async compareAll(): Promise<void> {
    for (const [owner, pubkey] of this.#later.splice(0)) {
      const created = !this.#minters.has(`${owner} ${pubkey}`)
      this.#minters.add(`${owner} ${pubkey}`)
      const answer = await authorizeMinter(
        this.service,
        { pubkey: owner, beganAt: 0, until: 0, spend: undefined },
        { pubkey },
      )
      this.#same('add minter', answer.created, created)
    }
    for (const owner of owners)
      await this.#compareOwner({ pubkey: owner, beganAt: 0, until: 0, spend: undefined })
    for (const voucher of this.#vouchers.values()) {
      const found = JSON.parse(await preview(this.service, voucher.nonce))
      const claimedAt = voucher.phase === 'claimed' ? voucher.endedAt : null
      this.#same(`preview ${voucher.nonce}`, found, {
        ...found,
        status: this.#status(voucher),
        claimedAt,
      })
      const { name, expiresAt, rules } = voucher
      this.#same(
        'terms',
        [found.name, found.expiresAt, found.rules ?? null],
        [name, expiresAt, rules],
      )
    }
    const all = [...this.#vouchers.values()]
    const totals = await this.service.database.snapshot((tx) => tx.vouchers.totals())
    const inPhase = (phase: string) => all.filter((one) => one.phase === phase).length
    this.#same('totals', totals, {
      issued: all.length - inPhase('refreshed'),
      claimed: inPhase('claimed'),
      voided: inPhase('voided'),
      refreshed: inPhase('refreshed'),
    })
  }

  async #compareOwner(caller: Caller): Promise<void> {
    const { coupons } = await overview(this.service, caller)
    const mine = [...this.#definitions.values()].filter((one) => one.owner === caller.pubkey)
    const shown = coupons.map(({ archivedAt, rules = null, ...coupon }) => {
      const { id, name, minted, claimed, maxUses, expiresAt } = coupon
      const archived = archivedAt !== null
      return { id, name, minted, claimed, maxUses, expiresAt, rules, archived }
    })
    const wanted = mine.reverse().map(({ issued, voided, owner: _, ...rest }) => ({
      ...rest,
      minted: issued - voided,
    }))
    this.#same('overview', shown, wanted)

    const figures = mine.map((definition) => {
      const expiredNow = [...this.#vouchers.values()].filter(
        (one) => one.definition === definition.id && this.#status(one) === 'expired',
      ).length
      const { issued, claimed, voided } = definition
      const open = issued - expiredNow - claimed - voided
      return [definition.id, { issued, open, expired: expiredNow, claimed, voided }]
    })
    const { coupons: counted } = await statistics(this.service, caller, {})
    this.#same(
      'figures',
      counted.map((one) => [one.couponId, one.figures]),
      figures,
    )

    const allowed = [...this.#definitions.values()].filter(
      (one) =>
        (one.owner === caller.pubkey || this.#minters.has(`${one.owner} ${caller.pubkey}`)) &&
        !one.archived &&
        !expired(one, this.now) &&
        (one.maxUses === null || one.issued - one.voided < one.maxUses),
    )
    const offered = await mintable(this.service, caller)
    this.#same(
      'mintable',
      offered.coupons.map(({ id, remaining }) => [id, remaining]),
      allowed
        .reverse()
        .map(({ id, maxUses, issued, voided }) => [
          id,
          maxUses === null ? null : maxUses - (issued - voided),
        ]),
    )
    let claimed = 0
    for (const definition of mine) {
      const listed = await this.#allIssuances(caller, definition.id)
      const vouchers = [...this.#vouchers.values()].filter(
        (one) => one.definition === definition.id,
      )
      this.#same(
        'issuances',
        listed.map((row) => ({
          handle: row.handle,
          nonce: row.nonce,
          status: row.status,
          expired: row.expired,
          mintedBy: row.mintedBy,
          chain: row.chain,
        })),
        vouchers.reverse().map((voucher) => ({
          handle: handleText(handleOf(voucher.nonce)),
          nonce: handleText(handleOf(voucher.nonce)),
          status: voucher.phase,
          expired: this.#status(voucher) === 'expired',
          mintedBy: voucher.mintedBy,
          chain: handleText(handleOf(voucher.root)),
        })),
      )
      claimed += definition.claimed
    }
    let redeemed = 0
    for (let cursor: string | undefined; ; ) {
      const page = await redemptions(this.service, caller, {
        limit: '500',
        ...(cursor && { cursor }),
      })
      redeemed += page.redemptions.length
      if (page.next === null) break
      cursor = page.next
    }
    this.#same('redemptions', redeemed, claimed)
  }

  async #allIssuances(caller: Caller, id: string) {
    const limit = String(1 + this.#random.below(500))
    const pages = []
    for (let cursor: string | undefined; ; ) {
      const asked = { couponId: id, refreshed: true, limit, ...(cursor && { cursor }) }
      const page = await issuances(this.service, caller, asked)
      pages.push(page.mints)
      if (page.next === null) return pages.flat()
      cursor = page.next
    }
  }

  #status(voucher: ModelVoucher): string {
    return voucher.phase === 'minted' && expired(voucher, this.now) ? 'expired' : voucher.phase
  }

  #same(what: string, found: unknown, wanted: unknown): void {
    if (!Bun.deepEquals(found, wanted)) this.#mismatch(what, { found, wanted })
  }

  #mismatch(what: string, detail: unknown): never {
    throw new ModelMismatch(`SEED=${this.#random.seed} ${what}: ${JSON.stringify(detail)}`)
  }
}

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into, whatever they are
type Json = any

function differs(found: unknown, wanted: unknown): string | undefined {
  if (Bun.deepEquals(found, wanted)) return undefined
  return `${JSON.stringify(found)} is not ${JSON.stringify(wanted)}`
}

function startsTooLate({ rules, expiresAt }: Pick<ModelVoucher, 'rules' | 'expiresAt'>): boolean {
  return expiresAt !== null && rules?.startsAt !== undefined && rules.startsAt >= expiresAt
}

function expired({ expiresAt }: { expiresAt: number | null }, now: number): boolean {
  return expiresAt !== null && expiresAt <= now
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
