/** The coupons of a service as plain maps: what each operation must answer, and what must be on the disk. */
import { Refusal } from '../../src/base/refusal.ts'
import { handleOf, handleText } from '../../src/coupons/nonce.ts'
import type { NostrEvent } from '../../src/nostr/event.ts'
import type { Outcome } from './process.ts'

/** Something is not as the model says. */
export class Mismatch extends Error {}

export type ModelDefinition = {
  id: string
  owner: string
  name: string
  maxUses: number | null
  expiresAt: number | null
  archived: boolean
  issued: number
  claimed: number
  voided: number
}

export type ModelBatch = { id: string; definition: ModelDefinition; issued: number }

export type ModelVoucher = {
  nonce: string
  handle: string
  definition: ModelDefinition
  /** The nonce of the first voucher of its chain. */
  root: string
  /** The batch of the first voucher of a chain; of later ones it says nothing. */
  batch: ModelBatch | null
  name: string
  expiresAt: number | null
  phase: 'minted' | 'claimed' | 'refreshed' | 'voided'
  endedAt: number | null
  /** The key that burned it, and the answer that it earned. */
  burned: { key: string; body: string | null } | null
  /** Its signed event. Null if only its holder can read it. */
  event: NostrEvent | null
}

/** A JSON object of an answer. */
// biome-ignore lint/suspicious/noExplicitAny: answers are looked into, whatever they are
export type Json = any

/** A request as a client repeats it, with a signature or a key where it has one. */
export type Asked = { scope: string; request: string; key: string | null; signature: string | null }

/** A mint as it is asked for. */
type Minting = {
  definition: ModelDefinition
  by: string
  count: number | null
  batch: ModelBatch | 'new' | null
}

export class CouponModel {
  readonly definitions: ModelDefinition[] = []
  readonly vouchers: ModelVoucher[] = []
  readonly batches: ModelBatch[] = []
  /** Keys that a merchant listed, by "owner key"; whether they mint. */
  readonly #minters = new Map<string, boolean>()
  readonly #byNonce = new Map<string, ModelVoucher>()
  readonly #answers = new Map<string, { request: string; body: string }>()
  readonly #signatures = new Set<string>()

  /** Spend the signature of a request and look for its kept answer. True when the outcome is settled by that. */
  settled({ scope, key, request, signature }: Asked, outcome: Outcome): boolean {
    if (signature !== null) {
      if (this.#signatures.has(signature)) return refused(outcome, 'auth-replay')
      this.#signatures.add(signature)
    }
    const kept = key === null ? undefined : this.#answers.get(`${scope} ${key}`)
    if (!kept) return false
    if (kept.request !== request) return refused(outcome, 'idempotency-key-reused')
    same('the kept answer', (answerOf(outcome) as Json).body, kept.body)
    return true
  }

  keep({ scope, key, request }: Asked, body: string): void {
    if (key !== null) this.#answers.set(`${scope} ${key}`, { request, body })
  }

  define(
    asked: Asked,
    wanted: Pick<ModelDefinition, 'owner' | 'name' | 'maxUses' | 'expiresAt'>,
    outcome: Outcome,
    now: number,
  ): void {
    if (this.settled(asked, outcome)) return
    if (expired(wanted, now)) return void refused(outcome, 'expiry-past')
    const { body } = answerOf(outcome) as Json
    const { coupon } = JSON.parse(body)
    if (this.definitions.some(({ id }) => id === coupon.id)) throw new Mismatch('an id twice')
    same(
      'the definition',
      [coupon.name, coupon.maxUses, coupon.minted],
      [wanted.name, wanted.maxUses, 0],
    )
    const counters = { issued: 0, claimed: 0, voided: 0 }
    this.definitions.push({ ...wanted, ...counters, id: coupon.id, archived: false })
    this.keep(asked, body)
  }

  edit(
    asked: Asked,
    {
      definition,
      owner,
      changes,
    }: { definition: ModelDefinition; owner: string; changes: Partial<ModelDefinition> },
    outcome: Outcome,
  ): void {
    if (this.settled(asked, outcome)) return
    if (definition.owner !== owner) return void refused(outcome, 'coupon-unknown')
    const { coupon } = answerOf(outcome) as Json
    Object.assign(definition, changes)
    const { name, maxUses, issued, voided } = definition
    same('the edit', [coupon.name, coupon.maxUses, coupon.minted], [name, maxUses, issued - voided])
  }

  mint(
    asked: Asked,
    { definition, by, count, batch }: Minting,
    outcome: Outcome,
    now: number,
  ): void {
    if (this.settled(asked, outcome)) return
    const { owner } = definition
    if (owner !== by && this.#minters.get(`${owner} ${by}`) !== true) {
      return void refused(outcome, 'mint-not-allowed')
    }
    const code = whyNotMinted(definition, count ?? 1, now)
    if (code !== null) return void refused(outcome, code)
    // The vouchers are written before this refusal.
    if (batch && batch !== 'new' && batch.definition !== definition) {
      return void refused(outcome, 'batch-unknown')
    }
    const { body } = answerOf(outcome) as Json
    const answer = JSON.parse(body)
    const minted: Json[] = count === null && !batch ? [answer] : answer.vouchers
    same('the number of vouchers', minted.length, count ?? 1)
    const filed = batch && this.#batchOf(batch, definition, answer.batch.id)
    if (filed) filed.issued += minted.length
    definition.issued += minted.length
    for (const one of minted) {
      const { name, expiresAt } = definition
      this.issue(definition, one, { root: one.nonce, name, expiresAt }).batch = filed
    }
    this.keep(asked, body)
  }

  #batchOf(batch: ModelBatch | 'new', definition: ModelDefinition, id: string): ModelBatch {
    if (batch === 'new') {
      const made = { id, definition, issued: 0 }
      this.batches.push(made)
      return made
    }
    same('the batch', id, batch.id)
    return batch
  }

  voidBatch(
    asked: Asked,
    { batch, owner }: { batch: ModelBatch; owner: string },
    outcome: Outcome,
    now: number,
  ): void {
    if (this.settled(asked, outcome)) return
    const { definition } = batch
    if (definition.owner !== owner) return void refused(outcome, 'coupon-unknown')
    const open = this.vouchers.filter(
      ({ phase, root }) => phase === 'minted' && this.find(root)?.batch === batch,
    )
    same('the voided ones of a batch', (answerOf(outcome) as Json).voided, open.length)
    for (const voucher of open) Object.assign(voucher, { phase: 'voided', endedAt: now })
    definition.voided += open.length
  }

  authorize(
    asked: Asked,
    { owner, pubkey, mint }: { owner: string; pubkey: string; mint: boolean },
    outcome: Outcome,
  ): void {
    if (this.settled(asked, outcome)) return
    if (owner === pubkey) return void refused(outcome, 'minter-is-owner')
    const name = `${owner} ${pubkey}`
    const { created, minter } = answerOf(outcome) as Json
    same('the minter', [created, minter.mint ?? true], [!this.#minters.has(name), mint])
    this.#minters.set(name, mint)
  }

  unauthorize(
    asked: Asked,
    { owner, pubkey }: { owner: string; pubkey: string },
    outcome: Outcome,
  ): void {
    if (this.settled(asked, outcome)) return
    if (!this.#minters.delete(`${owner} ${pubkey}`)) return void refused(outcome, 'minter-unknown')
    answerOf(outcome)
  }

  issue(
    definition: ModelDefinition,
    { nonce, voucher, ...answer }: Json,
    { root, name, expiresAt }: Pick<ModelVoucher, 'root' | 'name' | 'expiresAt'>,
  ): ModelVoucher {
    same(
      'the terms',
      [answer.couponId, answer.name, answer.expiresAt],
      [definition.id, name, expiresAt],
    )
    same('the event', JSON.parse(voucher.content).nonce, nonce)
    const issued = this.#add(definition, nonce, { root, name, expiresAt })
    issued.event = voucher
    return issued
  }

  #add(
    definition: ModelDefinition,
    nonce: string,
    { root, name, expiresAt }: Pick<ModelVoucher, 'root' | 'name' | 'expiresAt'>,
  ): ModelVoucher {
    if (this.#byNonce.has(nonce)) throw new Mismatch('a nonce twice')
    const handle = handleText(handleOf(nonce))
    const fresh = {
      phase: 'minted',
      endedAt: null,
      burned: null,
      event: null,
      batch: null,
    } as const
    const issued: ModelVoucher = { ...fresh, nonce, handle, definition, root, name, expiresAt }
    this.#byNonce.set(nonce, issued)
    this.vouchers.push(issued)
    return issued
  }

  refresh(voucher: ModelVoucher, key: string, outcome: Outcome, now: number): void {
    const { burned } = voucher
    if (burned) {
      if (burned.key !== key) return void refused(outcome, 'voucher-refreshed')
      const { replayed, body } = answerOf(outcome) as Json
      same('the repeated refresh', [replayed, body], [true, burned.body])
      return
    }
    const code = whyNotLive(voucher, now, 'voucher-refreshed')
    if (code !== null) return void refused(outcome, code)
    const { replayed, body } = answerOf(outcome) as Json
    same('a first refresh', replayed, false)
    Object.assign(voucher, { phase: 'refreshed', endedAt: now, burned: { key, body } })
    this.issue(voucher.definition, JSON.parse(body), voucher)
  }

  claim(asked: Asked, voucher: ModelVoucher, outcome: Outcome, now: number): void {
    if (this.settled(asked, outcome)) return
    const again = voucher.phase === 'claimed'
    const code = again ? null : whyNotLive(voucher, now, 'voucher-moved')
    if (code !== null) return void refused(outcome, code)
    if (!again) {
      Object.assign(voucher, { phase: 'claimed', endedAt: now })
      voucher.definition.claimed++
    }
    const { body } = answerOf(outcome) as Json
    const answer = JSON.parse(body)
    const wanted = [again ? 'claimed' : 'success', voucher.endedAt, voucher.endedAt]
    same('the claim', [answer.status, answer.claimedAt, answer.voucher.created_at], wanted)
    if (!again) this.keep(asked, body)
  }

  void(
    asked: Asked,
    { voucher, owner, chain }: { voucher: ModelVoucher; owner: string; chain: boolean },
    outcome: Outcome,
    now: number,
  ): void {
    if (this.settled(asked, outcome)) return
    const { definition } = voucher
    if (definition.owner !== owner) return void refused(outcome, 'coupon-unknown')
    const target = chain ? this.endOf(voucher) : voucher
    if (target.phase !== 'minted') return void refused(outcome, `voucher-${target.phase}`)
    const { mint } = answerOf(outcome) as Json
    same('the voided voucher', mint.handle, target.handle)
    Object.assign(target, { phase: 'voided', endedAt: now })
    definition.voided++
  }

  voidAll(
    asked: Asked,
    { definition, owner }: { definition: ModelDefinition; owner: string },
    outcome: Outcome,
    now: number,
  ): void {
    if (this.settled(asked, outcome)) return
    if (definition.owner !== owner) return void refused(outcome, 'coupon-unknown')
    const open = this.vouchers.filter(
      (one) => one.definition === definition && one.phase === 'minted',
    )
    same('the number of voided ones', (answerOf(outcome) as Json).voided, open.length)
    for (const voucher of open) Object.assign(voucher, { phase: 'voided', endedAt: now })
    definition.voided += open.length
  }

  preview(voucher: ModelVoucher, outcome: Outcome, now: number): void {
    const { status, claimedAt, name } = JSON.parse(answerOf(outcome) as string)
    const phase = voucher.phase === 'minted' && expired(voucher, now) ? 'expired' : voucher.phase
    const claimed = phase === 'claimed' ? voucher.endedAt : null
    same('the preview', [status, claimedAt, name], [phase, claimed, voucher.name])
  }

  /** The voucher at the end of a chain: there is one. */
  endOf({ root }: ModelVoucher): ModelVoucher {
    const ends = this.vouchers.filter((one) => one.root === root && one.phase !== 'refreshed')
    if (ends.length !== 1) throw new Mismatch(`a chain has ${ends.length} ends`)
    return ends[0] as ModelVoucher
  }

  /** A voucher moved to the inbox of a holder, within a transfer: nobody else knows its new nonce. */
  moved(voucher: ModelVoucher, nonce: string, now: number): void {
    const code = whyNotLive(voucher, now, 'voucher-refreshed')
    if (code !== null) throw new Mismatch(`a transfer moved a voucher, but it must refuse ${code}`)
    Object.assign(voucher, { phase: 'refreshed', endedAt: now, burned: { key: '', body: null } })
    this.#add(voucher.definition, nonce, voucher)
  }

  /** Check that a voucher may be refused, because it is not open. */
  notLive(voucher: ModelVoucher, now: number): void {
    if (whyNotLive(voucher, now, '') === null)
      throw new Mismatch('a transfer of a good voucher was refused')
  }

  find(nonce: string): ModelVoucher | undefined {
    return this.#byNonce.get(nonce)
  }
}

/** The refusal of a mint, or null. */
export function whyNotMinted(
  definition: ModelDefinition,
  count: number,
  now: number,
): string | null {
  const { archived, issued, voided, maxUses } = definition
  if (archived) return 'coupon-archived'
  if (expired(definition, now)) return 'coupon-expired'
  const left = maxUses === null ? Number.POSITIVE_INFINITY : maxUses - (issued - voided)
  return count > left ? 'coupon-exhausted' : null
}

export function expired({ expiresAt }: { expiresAt: number | null }, now: number): boolean {
  return expiresAt !== null && expiresAt <= now
}

function whyNotLive(voucher: ModelVoucher, now: number, refreshed: string): string | null {
  const { phase } = voucher
  if (phase === 'minted') return expired(voucher, now) ? 'voucher-expired' : null
  if (phase === 'refreshed') return refreshed
  return phase === 'voided' ? 'voucher-cancelled' : `voucher-${phase}`
}

export function answerOf(outcome: Outcome): unknown {
  if ('value' in outcome) return outcome.value
  throw new Mismatch(`it was refused, but must not be: ${nameOf(outcome.refused)}`)
}

/** Check that an outcome is the refusal of that code. Always true. */
export function refused(outcome: Outcome, code: string): true {
  if ('value' in outcome) {
    throw new Mismatch(
      `it must be refused as ${code}, but answered ${JSON.stringify(outcome.value)}`,
    )
  }
  const found = nameOf(outcome.refused)
  if (found !== code) throw new Mismatch(`it must be refused as ${code}, but was as ${found}`)
  return true
}

function nameOf(cause: unknown): string {
  return cause instanceof Refusal ? cause.code : String(cause)
}

export function same(name: string, found: unknown, wanted: unknown): void {
  if (Bun.deepEquals(found, wanted)) return
  throw new Mismatch(`${name}: ${JSON.stringify(found)}, but must be ${JSON.stringify(wanted)}`)
}
