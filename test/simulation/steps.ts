import { Refusal } from '../../src/base/refusal.ts'
import { voidBatch } from '../../src/coupons/batches.ts'
import { claim } from '../../src/coupons/claim.ts'
import { define, edit } from '../../src/coupons/define.ts'
import { mintVouchers } from '../../src/coupons/mint.ts'
import { authorizeMinter, removeMinter } from '../../src/coupons/minters.ts'
import { preview } from '../../src/coupons/preview.ts'
import { refresh } from '../../src/coupons/refresh.ts'
import { voidAll, voidVoucher } from '../../src/coupons/void.ts'
import type { Caller } from '../../src/session/caller.ts'
import type { Asked, CouponModel, ModelDefinition, ModelVoucher } from './coupon-model.ts'
import type { Machine } from './machine.ts'
import type { Outcome } from './process.ts'
import type { Service } from './service.ts'

/** A request of a client, made from numbers when its turn comes. */
export type Request = {
  /** For people who read the script. */
  words: string
  run(service: Service): Promise<unknown>
  /** Called in the order of the commits, with the time of that machine. */
  judge(outcome: Outcome, now: number, service: Service): void
  /** It has no transaction, or several: its answer is judged, too, or instead. */
  answered?(answer: unknown): void
  /** True for a refusal that comes before any transaction. */
  early?(code: string, now: number): boolean
  /** It only reads: it is judged by its answer. */
  reads?: true
}

/** The world that a request is made in. */
export type Around = { machine: Machine; machines: readonly Machine[]; serial(): number }

export type Numbers = readonly [number, number, number]

/** Makes a request from numbers. Null if there is nothing yet that it could be about. */
export type Maker = (around: Around, numbers: Numbers, now: number) => Request | null

export const owners = ['a1', 'b2'].map((digits) => digits.repeat(32))
/** Keys that may be listed as minters: an owner may be one of another's. */
const minters = [...owners, 'c3'.repeat(32)]
export const keys = ['llave-numero-1', 'llave-numero-2', 'llave-numero-3']
const benefit = { type: 'percent', percent: 10 } as const

export function pick<T>(list: readonly T[], number: number): T {
  return list[number % list.length] as T
}

/** A definition of the model; the newest ones more often. */
export function someDefinition(
  { definitions }: CouponModel,
  number: number,
): ModelDefinition | null {
  return definitions.length === 0 ? null : pick(definitions.slice(number % 3 ? -3 : 0), number)
}

/** A voucher of the model; the newest ones more often, because old ones have ended. */
export function someVoucher({ vouchers }: CouponModel, number: number): ModelVoucher | null {
  return vouchers.length === 0 ? null : pick(vouchers.slice(number % 4 ? -10 : 0), number)
}

/** The caller of a request, in a session or with a signature that may have been used before. */
export function callerOf(
  pubkey: string,
  number: number,
): { caller: Caller; signature: string | null } {
  const signature = number % 3 ? null : (number % 50).toString(16).padStart(64, '0')
  const spend: Caller['spend'] = async (tx) => {
    if (!(await tx.proofs.use(signature ?? '', 4_000_000_000))) throw new Refusal('auth-replay')
  }
  const spending = signature === null ? undefined : spend
  return { caller: { pubkey, beganAt: 0, until: 0, spend: spending }, signature }
}

export function askedOf(
  scope: string,
  request: unknown,
  key: string | null,
  signature: string | null,
): Asked {
  return { scope, request: JSON.stringify(request), key, signature }
}

export function repeatOf({ key, scope, request }: Asked) {
  return key === null ? null : { key, scope, request }
}

export const keyOf = (number: number) => (number % 4 ? null : pick(keys, number))

export const makers: Record<string, Maker> = {
  define({ machine: { coupons: model } }, [a, b, c], now) {
    const owner = pick(owners, a)
    const { caller, signature } = callerOf(owner, b)
    const maxUses = pick([null, 1, 3, 20], b)
    const life = pick([null, 1, 60, 3000, 0], c)
    const expiresAt = life === null ? null : now + life
    const fields = { name: `cupón ${a % 100}`, benefit, maxUses, expiresAt }
    const asked = askedOf(`define ${owner}`, fields, keyOf(c), signature)
    return {
      words: `define ${JSON.stringify(fields)}`,
      run: ({ coupons }) => define(coupons, caller, fields, repeatOf(asked)),
      judge: (outcome, at) => model.define(asked, { ...fields, owner }, outcome, at),
    }
  },

  edit({ machine: { coupons: model } }, [a, b, c], now) {
    const definition = someDefinition(model, a)
    if (!definition) return null
    const owner = b % 8 ? definition.owner : pick(owners, a)
    const { caller, signature } = callerOf(owner, b)
    const changes = pick<Partial<ModelDefinition>>(
      [
        { maxUses: 2 },
        { maxUses: null },
        { expiresAt: now + 50 },
        { expiresAt: null },
        { archived: true },
        { archived: false },
        { name: `otro ${c % 100}` },
      ],
      c,
    )
    const asked = askedOf('', changes, null, signature)
    return {
      words: `edit ${JSON.stringify(changes)}`,
      run: ({ coupons }) => edit(coupons, caller, definition.id, changes),
      judge: (outcome) => model.edit(asked, { definition, owner, changes }, outcome),
    }
  },

  mint({ machine: { coupons: model } }, [a, b, c]) {
    const definition = someDefinition(model, a)
    if (!definition) return null
    const by = b % 5 ? definition.owner : pick(minters, a)
    const { caller, signature } = callerOf(by, b)
    const count = pick([null, null, null, 1, 2, 5], c)
    const known = c % 3 ? model.batches.at(-1) : pick([null, ...model.batches], a)
    const batch = c % 5 ? null : c % 10 && known ? known : 'new'
    const names = batch && {
      batch: batch === 'new' ? { name: 'tanda' } : { id: batch.id },
      labels: null,
    }
    const input = { couponId: definition.id, count, names }
    const asked = askedOf(`mint ${by}`, input, keyOf(c), signature)
    return {
      words: `mint ${count ?? 'one'}${batch ? ` in ${batch === 'new' ? 'a new batch' : 'a batch'}` : ''}`,
      run: ({ coupons }) => mintVouchers(coupons, caller, input, repeatOf(asked)),
      judge: (outcome, at) => model.mint(asked, { definition, by, count, batch }, outcome, at),
    }
  },

  voidBatch({ machine: { coupons: model } }, [a, b]) {
    if (model.batches.length === 0) return null
    const batch = pick(model.batches.slice(-3), a)
    const owner = b % 8 ? batch.definition.owner : pick(owners, a)
    const { caller, signature } = callerOf(owner, b)
    const asked = askedOf('', null, null, signature)
    const input = { couponId: batch.definition.id, batchId: batch.id }
    return {
      words: 'void a batch',
      run: ({ coupons }) => voidBatch(coupons, caller, input),
      judge: (outcome, at) => model.voidBatch(asked, { batch, owner }, outcome, at),
    }
  },

  minter({ machine: { coupons: model } }, [a, b, c]) {
    const [owner, pubkey] = [pick(owners, a), pick(minters, c)]
    const { caller, signature } = callerOf(owner, b)
    const asked = askedOf('', null, null, signature)
    const mint = c % 2 > 0
    if (b % 3 === 0) {
      return {
        words: 'remove a minter',
        run: ({ coupons }) => removeMinter(coupons, caller, pubkey),
        judge: (outcome) => model.unauthorize(asked, { owner, pubkey }, outcome),
      }
    }
    return {
      words: `list a key that ${mint ? 'mints' : 'redeems'}`,
      run: ({ coupons }) => authorizeMinter(coupons, caller, { pubkey, mint }),
      judge: (outcome) => model.authorize(asked, { owner, pubkey, mint }, outcome),
    }
  },

  refresh({ machine: { coupons: model } }, [a, b]) {
    const voucher = someVoucher(model, a)
    if (!voucher) return null
    const key = pick(keys, b)
    return {
      words: `refresh ${voucher.handle}, ${key}`,
      run: ({ coupons }) => refresh(coupons, { nonce: voucher.nonce, key }),
      judge: (outcome, at) => model.refresh(voucher, key, outcome, at),
    }
  },

  claim({ machine: { coupons: model } }, [a, b]) {
    const voucher = someVoucher(model, a)
    if (!voucher) return null
    const { nonce } = voucher
    const order = { zapRequest: undefined, amountMsat: b % 5, purchase: null }
    const asked = askedOf(`claim ${nonce}`, order, keyOf(b), null)
    const input = { ...order, nonce, owner: null }
    return {
      words: `claim ${voucher.handle}`,
      run: ({ coupons }) => claim(coupons, input, repeatOf(asked), null),
      judge: (outcome, at) => model.claim(asked, voucher, outcome, at),
    }
  },

  void({ machine: { coupons: model } }, [a, b, c]) {
    const voucher = someVoucher(model, a)
    if (!voucher) return null
    const { definition, nonce, handle } = voucher
    const owner = b % 8 ? definition.owner : pick(owners, a)
    const { caller, signature } = callerOf(owner, b)
    const chain = c % 2 === 0
    const name = c % 3 ? handle : nonce
    const asked = askedOf('', null, null, signature)
    return {
      words: `void ${handle}${chain ? ' and its successor' : ''}`,
      run: ({ coupons }) => voidVoucher(coupons, caller, { couponId: definition.id, name, chain }),
      judge: (outcome, at) => model.void(asked, { voucher, owner, chain }, outcome, at),
    }
  },

  kill({ machine: { coupons: model } }, [a, b]) {
    const definition = someDefinition(model, a)
    if (!definition) return null
    const owner = b % 8 ? definition.owner : pick(owners, a)
    const { caller, signature } = callerOf(owner, b)
    const asked = askedOf('', null, null, signature)
    return {
      words: 'kill switch',
      run: ({ coupons }) => voidAll(coupons, caller, definition.id),
      judge: (outcome, at) => model.voidAll(asked, { definition, owner }, outcome, at),
    }
  },

  preview({ machine: { coupons: model } }, [a]) {
    const voucher = someVoucher(model, a)
    if (!voucher) return null
    return {
      reads: true,
      words: `preview ${voucher.handle}`,
      run: ({ coupons }) => preview(coupons, voucher.nonce),
      judge: (outcome, at) => model.preview(voucher, outcome, at),
    }
  },
}
