import { expect } from 'bun:test'
import type { NewPoster, Poster } from '../../src/posters/poster.ts'
import { at, bytes, count, defined, found, handle, issued, key, uuid } from './fixtures.ts'
import type { CouponTx, It, Stores } from './harness.ts'

const unlimited: NewPoster = {
  ...{ label: 'Vidriera', perPerson: 1, perDay: null, total: null },
  ...{ timeZone: 'UTC', startsAt: null, endsAt: null },
}
/** The day of takes here. */
const day = 20_000

/** A poster of a definition; its number is that of its uuid. */
export async function hung(
  tx: CouponTx,
  number: number,
  parts: Partial<NewPoster> & { owner?: string } = {},
): Promise<Poster> {
  const { owner = key(1), ...input } = parts
  const definition = (await tx.definitions.find(uuid(1))) ?? (await defined(tx, 1))
  const named = { id: uuid(number), definitionRowId: definition.rowId, owner }
  tx.posters.insert(named, { ...unlimited, ...input }, at)
  return found(await tx.posters.find(uuid(number)))
}

/** Take a voucher with this number, as the key with this number. */
export async function took(tx: CouponTx, poster: Poster, number: number, on = day, by = number) {
  const taker = key(by)
  if (!(await tx.posters.countTake(poster.rowId, { taker, day: on, now: at }))) return false
  await issued(tx, found(await tx.definitions.find(poster.couponId)), [number])
  const kept = { slot: bytes(32, number), sealed: bytes(9, number), taker, day: on }
  tx.posters.fileTake(poster.rowId, handle(number), kept)
  return true
}

function counters({ taken, takenDay, takenThatDay }: Poster) {
  return { taken, takenDay, takenThatDay }
}

export function posters(it: It<CouponTx>): void {
  const prepared = (stores: Stores<CouponTx>, parts: Partial<NewPoster> = {}) =>
    stores.write((tx) => hung(tx, 1, parts))
  const after = (stores: Stores<CouponTx>) =>
    stores.read(async (tx) => found(await tx.posters.find(uuid(1))))

  it('a poster is found with its coupon, and listed newest first by its owner', async (stores) => {
    const limited = { perPerson: 2, perDay: 3, total: 4, startsAt: 5, endsAt: 6 }
    await stores.write(async (tx) => {
      await hung(tx, 1, { ...limited, timeZone: 'America/Argentina/Buenos_Aires', label: null })
      await hung(tx, 2)
      await hung(tx, 3, { owner: key(2) })
    })
    await stores.read(async (tx) => {
      const { rowId, ...first } = found(await tx.posters.find(uuid(1)))
      expect(first).toEqual({
        ...limited,
        ...{ id: uuid(1), couponId: uuid(1), owner: key(1), label: null, paused: false },
        ...{ timeZone: 'America/Argentina/Buenos_Aires', taken: 0, takenDay: 0, takenThatDay: 0 },
        ...{ createdAt: at, updatedAt: at, deletedAt: null },
      })
      expect((await tx.posters.list(key(1))).map(({ id }) => id)).toEqual([uuid(2), uuid(1)])
      expect(await tx.posters.count(key(1))).toBe(2)
      expect(await tx.posters.find(uuid(4))).toBeNull()
    })
  })

  it('an edit changes limits and no counter; a deleted poster is found and not listed', async (stores) => {
    const poster = await prepared(stores)
    await stores.write((tx) => took(tx, poster, 1))
    const changes = {
      label: 'Mostrador',
      perPerson: 3,
      perDay: 4,
      total: 5,
      startsAt: 6,
      endsAt: 7,
    }
    const edited = { ...poster, ...changes, paused: true, updatedAt: at + 1, deletedAt: at + 2 }
    await stores.write(async (tx) => tx.posters.update(edited))
    expect(await after(stores)).toEqual({
      ...edited,
      ...{ taken: 1, takenDay: day, takenThatDay: 1 },
    })
    await stores.read(async (tx) => {
      expect(await tx.posters.list(key(1))).toEqual([])
      expect(await tx.posters.count(key(1))).toBe(0)
    })
    await stores.refuses(async (tx) => tx.posters.delete(poster.rowId))
  })

  it('a poster without takes goes, alone or with its coupon', async (stores) => {
    const poster = await prepared(stores)
    await stores.write(async (tx) => {
      await hung(tx, 2)
      tx.posters.delete(poster.rowId)
    })
    await stores.read(async (tx) => expect(await tx.posters.count(key(1))).toBe(1))
    await stores.write(async (tx) =>
      tx.definitions.delete(found(await tx.definitions.find(uuid(1))).rowId),
    )
    await stores.read(async (tx) => expect(await tx.posters.find(uuid(2))).toBeNull())
  })

  it('a take is counted in all, by its day and by its key, and its answer is found', async (stores) => {
    const poster = await prepared(stores, { perPerson: 2 })
    await stores.write(async (tx) => {
      expect(await took(tx, poster, 1)).toBe(true)
      expect(await took(tx, poster, 2, day, 1)).toBe(true)
      expect(await took(tx, poster, 3, day, 1)).toBe(false)
      expect(await took(tx, poster, 4, day + 1)).toBe(true)
    })
    expect(counters(await after(stores))).toEqual({ taken: 3, takenDay: day + 1, takenThatDay: 1 })
    await stores.read(async (tx) => {
      expect(await tx.posters.countOf(poster.rowId, key(1))).toBe(2)
      expect(await tx.posters.countOf(poster.rowId, key(9))).toBe(0)
      expect(await tx.posters.findTake(bytes(32, 2))).toEqual(bytes(9, 2))
      expect(await tx.posters.findTake(bytes(32, 3))).toBeNull()
    })
    await stores.refuses((tx) => took(tx, poster, 1, day, 8))
  })

  it('no take is counted beyond a limit of its poster', async (stores) => {
    const beyond: Partial<Poster>[] = [
      ...[{ total: 1 }, { perDay: 1 }, { startsAt: at + 1 }, { endsAt: at }],
      ...[{ paused: true }, { deletedAt: at }],
    ]
    const poster = await prepared(stores)
    await stores.write((tx) => took(tx, poster, 1))
    for (const changes of beyond) {
      await stores.write(async (tx) => tx.posters.update({ ...poster, ...changes }))
      expect(await stores.write((tx) => took(tx, poster, 2))).toBe(false)
    }
    const within = { perDay: 2, total: 2, startsAt: at, endsAt: at + 1 }
    await stores.write(async (tx) => tx.posters.update({ ...poster, ...within }))
    expect(await stores.write((tx) => took(tx, poster, 2))).toBe(true)
  })

  it('of simultaneous writers that take the last voucher one succeeds', async (stores) => {
    const poster = await prepared(stores, { total: 1 })
    const takers = [1, 2, 3].map((number) => stores.write((tx) => took(tx, poster, number)))
    expect(count(await Promise.all(takers))).toBe(1)
  })

  it('an undone transaction leaves nothing', async (stores) => {
    const poster = await prepared(stores)
    await stores.undone((tx) => took(tx, poster, 1))
    await stores.undone((tx) => hung(tx, 2))
  })
}
