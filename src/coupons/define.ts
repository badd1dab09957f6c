import { isDeepStrictEqual } from 'node:util'
import { limits } from '../base/limits.ts'
import { Refusal } from '../base/refusal.ts'
import type { Root } from '../db/roots.ts'
import type { Caller } from '../session/caller.ts'
import { type Answer, once, type Repeat } from './answer.ts'
import {
  type DefinitionChanges,
  definitionView,
  type NewDefinition,
  parseChanges,
  parseNewDefinition,
  requireStartFirst,
  type Terms,
} from './definition.ts'
import { withPicture, withPictureChanged } from './definition-picture.ts'
import type { StoredDefinition } from './definition-store.ts'
import type { Change } from './live.ts'
import { couponChanged } from './news.ts'
import { ownDefinition } from './permission.ts'
import type { CouponService, CouponStores } from './service.ts'

type Fields = Record<string, unknown>

/**
 * Create a definition. The answer is `{coupon}` with status 201. Refuses `field-invalid`, `benefit-invalid`,
 * `expiry-past`, `merchant-not-allowed`, `definitions-full`, `picture-unknown`, `bytes-day-full`, `disk-low`.
 */
export function define(
  service: CouponService,
  caller: Caller,
  fields: Fields,
  repeat: Repeat | null,
): Promise<Answer> {
  const plan = { roots: [{ merchant: caller.pubkey }], first: caller.spend }
  return service.database.transact(plan, async (tx) => {
    return once(service, tx, repeat, async () => {
      const now = service.now()
      // Fields are checked before permission: the order of refusals is part of the protocol.
      const input = withPicture(service, parseNewDefinition(fields, now))
      await service.requireMerchant(tx, caller)
      if ((await tx.definitions.count(caller.pubkey)) >= limits.definitionsPerOwnerMax) {
        throw new Refusal('definitions-full')
      }
      await requirePicture(tx, caller, input.picture)
      const id = service.newId()
      const coupon = definitionView(created(id, caller.pubkey, input, now))
      const body = JSON.stringify({ coupon })
      // A kept answer stores the whole definition a second time.
      const bytes = Buffer.byteLength(body) * (repeat ? 2 : 1)
      await service.charge(tx, caller.pubkey, { bytes })
      service.requireDisk()
      await tx.lock(...imageRoots(input))
      await tx.definitions.insert(id, caller.pubkey, input, now)
      await settlePictures(tx, caller, [input.picture], now)
      tx.tell(couponChanged, changeOf(caller, id, now))
      return { status: 201, body }
    })
  })
}

/**
 * Change a definition. Minted vouchers keep their terms. Refuses `field-invalid`, `benefit-invalid`,
 * `nothing-to-change`, `merchant-not-allowed`, `coupon-unknown`, `picture-unknown`, `bytes-day-full`, `disk-low`.
 */
export function edit(service: CouponService, caller: Caller, id: string, fields: Fields) {
  const roots = [{ definition: id, mode: 'changed' }] as const
  return service.database.transact({ roots, first: caller.spend }, async (tx) => {
    const now = service.now()
    tx.tell(couponChanged, changeOf(caller, id, now))
    const parsed = parseChanges(fields)
    await service.requireMerchant(tx, caller)
    const definition = await ownDefinition(tx, caller, id)
    const changes = withPictureChanged(service, definition, parsed)
    const edited = apply(definition, changes, now)
    requireStartFirst(edited, changes.rules === undefined ? 'expiresAt' : 'rules.startsAt')
    // Equal terms make no new revision, because vouchers would point to two copies of the same promise.
    const revised = !isDeepStrictEqual(termsOf(definition), termsOf(edited))
    // New terms take room. Archiving takes none, and must work on a full disk, because it stops the minting.
    const coupon = definitionView(edited)
    const repictured = edited.picture !== definition.picture
    if (repictured) {
      await tx.lock({ merchant: caller.pubkey })
      await requirePicture(tx, caller, edited.picture)
    }
    if (revised) {
      await service.charge(tx, caller.pubkey, {
        bytes: Buffer.byteLength(JSON.stringify(coupon)),
      })
      service.requireDisk()
    }
    if (edited.image !== definition.image) await tx.lock(...imageRoots(definition, edited))
    await tx.definitions.update(edited, revised)
    if (repictured) {
      await settlePictures(tx, caller, [definition.picture, edited.picture], now)
    }
    return { coupon }
  })
}

/**
 * Delete a definition that was never minted, or archive it. A minted one stays, because its vouchers point
 * to it. Refuses `merchant-not-allowed`, `coupon-unknown`.
 */
export function remove(service: CouponService, caller: Caller, id: string) {
  const roots = [{ definition: id, mode: 'changed' }] as const
  return service.database.transact({ roots, first: caller.spend }, async (tx) => {
    const now = service.now()
    tx.tell(couponChanged, changeOf(caller, id, now))
    await service.requireMerchant(tx, caller)
    const definition = await ownDefinition(tx, caller, id)
    if (definition.issued === 0) {
      if (definition.picture !== null) await tx.lock({ merchant: caller.pubkey })
      await tx.lock(...imageRoots(definition))
      await tx.definitions.delete(definition.rowId)
      await settlePictures(tx, caller, [definition.picture], now)
      return { deleted: true, archived: false }
    }
    await tx.definitions.update(apply(definition, { archived: true }, now), false)
    return { deleted: false, archived: true }
  })
}

/** The roots of the images that terms name. */
function imageRoots(...terms: Pick<Terms, 'image'>[]): Root[] {
  return terms.flatMap(({ image }) => (image === null ? [] : [{ image }]))
}

function changeOf({ pubkey: owner }: Caller, couponId: string, at: number): Change {
  return { type: 'coupon', owner, couponId, at }
}

/** Refuse a picture that the caller did not upload (`picture-unknown`). */
async function requirePicture(
  tx: Pick<CouponStores, 'pictures'>,
  { pubkey }: Caller,
  picture: string | null,
): Promise<void> {
  if (picture === null || (await tx.pictures.findOf(pubkey, picture))) return
  throw new Refusal('picture-unknown', { field: 'picture' })
}

/** Note whether pictures are still used, after a definition began or ceased to name them. */
async function settlePictures(
  tx: Pick<CouponStores, 'pictures'>,
  { pubkey }: Caller,
  pictures: (string | null)[],
  now: number,
): Promise<void> {
  for (const one of pictures) if (one !== null) await tx.pictures.settle(pubkey, one, now)
}

function termsOf(terms: Terms): Terms {
  const { name, description, image, benefit, expiresAt, rules, picture } = terms
  return { name, description, image, benefit, expiresAt, rules, picture }
}

function created(id: string, owner: string, input: NewDefinition, now: number) {
  const counters = { minted: 0, claimed: 0 }
  const times = { archivedAt: null, createdAt: now, updatedAt: now }
  return { ...input, ...counters, ...times, id, owner }
}

function apply(
  definition: StoredDefinition,
  { archived, ...changes }: DefinitionChanges,
  now: number,
): StoredDefinition {
  const edited = { ...definition, ...changes, updatedAt: now }
  if (archived !== undefined) edited.archivedAt = archived ? (definition.archivedAt ?? now) : null
  return edited
}
