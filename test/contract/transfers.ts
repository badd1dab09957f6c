import { expect } from 'bun:test'
import type { FrozenVoucher } from '../../src/coupons/voucher.ts'
import {
  at,
  bytes,
  count,
  defined,
  filed,
  found,
  handle,
  issued,
  key,
  most,
  succeeds,
  terms,
} from './fixtures.ts'
import type { CouponTx, It } from './harness.ts'

const [here, elsewhere] = [key(80), key(81)]

function ref(number: number, service = elsewhere) {
  return { service, handle: handle(number) }
}

function arrived(number: number, parts: object = {}) {
  return { ...ref(number), replacement: handle(1000 + number), holder: key(1), now: at, ...parts }
}

function intent(number: number, parts: object = {}) {
  return {
    ...ref(number),
    holder: key(1),
    owner: key(2),
    sealed: bytes(40, number),
    nextAt: at,
    createdAt: at,
    ...parts,
  }
}

export function transfers(it: It<CouponTx>): void {
  it('a transfer is completed once for each voucher, and once for each replacement', async (stores) => {
    const insert = (parts: object = {}) =>
      succeeds(stores.write((tx) => tx.transfers.insert(arrived(1, parts))))
    const same = [insert(), insert({ holder: key(3) }), insert({ replacement: handle(7) })]
    expect(count(await Promise.all(same))).toBe(1)
    const used = await stores.read(async (tx) =>
      (await tx.transfers.hasReplacement(ref(1001))) ? handle(1001) : handle(7),
    )
    await stores.refuses((tx) => tx.transfers.insert(arrived(2, { replacement: used })))
    await stores.refuses((tx) => tx.transfers.insert(arrived(3, { replacement: handle(3) })))
    // Another service's voucher of the same handle is another voucher.
    expect(await insert({ service: here })).toBe(true)
  })

  it('the holder of a received voucher, and a used replacement, are known', async (stores) => {
    await stores.write((tx) => tx.transfers.insert(arrived(1)))
    await stores.read(async (tx) => {
      expect(await tx.transfers.holderOf(ref(1))).toBe(key(1))
      expect(await tx.transfers.holderOf(ref(1, here))).toBeNull()
      expect(await tx.transfers.holderOf(ref(2))).toBeNull()
      expect(await tx.transfers.hasReplacement(ref(1001))).toBe(true)
      expect(await tx.transfers.hasReplacement(ref(1001, here))).toBe(false)
      expect(await tx.transfers.hasReplacement(ref(1))).toBe(false)
    })
  })

  it('an intent is stored and found by its voucher and by its id', async (stores) => {
    await stores.write((tx) => tx.transfers.insertIntent(intent(1, { service: here })))
    const id = await stores.write((tx) => tx.transfers.insertIntent(intent(1)))
    const { owner: _, nextAt: __, ...kept } = intent(1)
    await stores.read(async (tx) => {
      expect(await tx.transfers.findIntent(ref(1))).toEqual({ ...kept, id, attempts: 0 })
      expect(await tx.transfers.findIntentById(id)).toEqual({ ...kept, id, attempts: 0 })
      expect(await tx.transfers.findIntent(ref(2))).toBeNull()
      expect(await tx.transfers.findIntentById(id + 1)).toBeNull()
    })
  })

  it('a voucher has one intent at a time, and the id of an ended one is not used again', async (stores) => {
    await stores.write((tx) => tx.transfers.insertIntent(intent(2)))
    const id = await stores.write((tx) => tx.transfers.insertIntent(intent(1)))
    await stores.refuses((tx) => tx.transfers.insertIntent(intent(1)))
    const remove = () => stores.write((tx) => tx.transfers.removeIntent(id))
    expect(count(await Promise.all([remove(), remove()]))).toBe(1)
    const next = await stores.write((tx) => tx.transfers.insertIntent(intent(1)))
    expect(next).toBeGreaterThan(id)
    expect(await stores.read((tx) => tx.transfers.findIntent(ref(2)))).not.toBeNull()
  })

  it('intents of a service come longest due first, up to a maximum', async (stores) => {
    await stores.write(async (tx) => {
      for (const [number, nextAt] of [at + 2, at, at, at + 3].entries()) {
        await tx.transfers.insertIntent(intent(number, { nextAt }))
      }
      await tx.transfers.insertIntent(intent(9, { service: here }))
    })
    const due = (now: number, most: number) =>
      stores.read(async (tx) =>
        (await tx.transfers.due(elsewhere, now, most)).map((one) => one.handle),
      )
    expect(await due(at + 2, 10)).toEqual([1, 2, 0].map(handle))
    expect(await due(at + 2, 1)).toEqual([handle(1)])
    expect(await due(at - 1, 10)).toEqual([])
  })

  it('repeats are counted, and postponed until everything is made due', async (stores) => {
    const id = await stores.write((tx) => tx.transfers.insertIntent(intent(1)))
    await stores.write((tx) => tx.transfers.insertIntent(intent(2, { service: here })))
    for (const attempts of [1, 2]) {
      const repeated = await stores.write((tx) => tx.transfers.repeatIntent(id))
      expect(repeated).toMatchObject({ ...ref(1), id, attempts })
      await stores.write((tx) => tx.transfers.postpone(id, at + 60))
    }
    const due = () => stores.read((tx) => tx.transfers.due(elsewhere, at, 10))
    expect(await due()).toEqual([])
    await stores.write((tx) => tx.transfers.makeAllDue(at))
    expect(await due()).toMatchObject([{ id, attempts: 2 }])
    const other = await stores.read((tx) => tx.transfers.findIntent(ref(2, here)))
    expect(other?.attempts).toBe(0)
  })

  it('an intent is repeated, or its only attempt ends it', async (stores) => {
    const one = await stores.write((tx) => tx.transfers.insertIntent(intent(1)))
    const other = await stores.write((tx) => tx.transfers.insertIntent(intent(2)))
    const remove = (id: number) => stores.write((tx) => tx.transfers.removeUnrepeated(id))
    expect(await remove(one)).toBe(true)
    await stores.write(async (tx) => {
      expect(await tx.transfers.repeatIntent(one)).toBeNull()
      expect(await tx.transfers.repeatIntent(other)).not.toBeNull()
    })
    expect([await remove(one), await remove(other)]).toEqual([false, false])
    expect(await stores.read((tx) => tx.transfers.findIntent(ref(2)))).not.toBeNull()
  })

  it('making everything due does not postpone due intents', async (stores) => {
    await stores.write(async (tx) => {
      await tx.transfers.insertIntent(intent(1, { nextAt: at - 5 }))
      await tx.transfers.makeAllDue(at)
    })
    expect(await stores.read((tx) => tx.transfers.due(elsewhere, at - 5, 10))).toHaveLength(1)
  })

  it('open transfers are counted by service, with its oldest and its next one', async (stores) => {
    expect(await stores.read((tx) => tx.transfers.open())).toEqual([])
    await stores.write(async (tx) => {
      await tx.transfers.insertIntent(intent(1, { createdAt: at - 9, nextAt: at + 9 }))
      await tx.transfers.insertIntent(intent(2, { createdAt: at - 3, nextAt: at + 2 }))
      await tx.transfers.insertIntent(intent(3, { service: here }))
    })
    expect(await stores.read((tx) => tx.transfers.open())).toEqual([
      { service: here, open: 1, oldestAt: at, nextAt: at },
      { service: elsewhere, open: 2, oldestAt: at - 9, nextAt: at + 2 },
    ])
    await stores.read(async (tx) => {
      expect([await tx.transfers.countAt(elsewhere), await tx.transfers.countAt(key(1))]).toEqual([
        2, 0,
      ])
    })
  })

  it('transfers received by a holder since a time are counted, and those of one merchant', async (stores) => {
    await stores.write(async (tx) => {
      await tx.transfers.insertIntent(intent(1))
      await tx.transfers.insertIntent(intent(2, { owner: key(3) }))
      await tx.transfers.insertIntent(intent(3, { createdAt: at - 1 }))
      await tx.transfers.insertIntent(intent(4, { holder: key(5) }))
    })
    await stores.read(async (tx) => {
      expect(await tx.transfers.countFor(key(1), key(2), at)).toEqual({ all: 2, ofOwner: 1 })
      expect(await tx.transfers.countFor(key(1), key(2), 0)).toEqual({ all: 3, ofOwner: 2 })
      expect(await tx.transfers.countFor(key(9), key(2), 0)).toEqual({ all: 0, ofOwner: 0 })
    })
  })

  it('an undone transaction leaves nothing', (stores) =>
    stores.undone(async (tx) => {
      await tx.transfers.insert(arrived(1))
      await tx.transfers.postpone(await tx.transfers.insertIntent(intent(2)), at + 1)
    }))
}

/** Puts a voucher into an inbox; its transfer is written first. */
async function received(
  tx: CouponTx,
  number: number,
  parts: {
    service?: string
    holder?: string
    replacement?: Uint8Array
    promised?: Partial<FrozenVoucher>
    rules?: unknown
  } = {},
): Promise<void> {
  const { promised, rules: _, ...transfer } = parts
  const id = await tx.transfers.insert(arrived(number, transfer))
  await tx.inbox.insert({
    id,
    holder: parts.holder ?? key(1),
    couponId: 'ñ:1',
    owner: key(2),
    terms: { ...terms, description: '"quoted"' },
    comment: null,
    rules: parts.rules ?? null,
    sealed: { pubkey: key(70), payload: 'AAA=' },
    ...promised,
  })
}

export function inbox(it: It<CouponTx>): void {
  const expiring = (expiresAt: number) => ({ promised: { terms: { ...terms, expiresAt } } })

  it('a voucher is in the inbox as it was received, newest first, up to a maximum', async (stores) => {
    await stores.write(async (tx) => {
      await tx.facts.pin('manager', here)
      await received(tx, 1, { ...expiring(most), rules: { startsAt: 1, más: ['ñ'] } })
      await received(tx, 2)
      await received(tx, 3, { holder: key(5) })
    })
    await stores.read(async (tx) => {
      expect(await tx.inbox.list(key(1), 1)).toEqual([
        {
          service: elsewhere,
          handle: handle(1002),
          receivedAt: at,
          owner: key(2),
          couponId: 'ñ:1',
          terms: {
            name: terms.name,
            description: '"quoted"',
            image: null,
            benefit: terms.benefit,
            expiresAt: null,
          },
          comment: null,
          rules: null,
          sealed: { pubkey: key(70), payload: 'AAA=' },
          phase: null,
        },
      ])
      const all = await tx.inbox.list(key(1), 10)
      expect(all.map((one) => one.handle)).toEqual([handle(1002), handle(1001)])
      expect(all[1]?.terms.expiresAt).toBe(most)
      expect(all[1]?.rules).toEqual({ startsAt: 1, más: ['ñ'] })
      expect(await tx.inbox.list(key(9), 10)).toEqual([])
    })
  })

  it('a voucher of this service shows its phase, and the kill switch before it is marked', async (stores) => {
    const phases = () =>
      stores.read(async (tx) => (await tx.inbox.list(key(1), 10)).map(({ phase }) => phase))
    const definition = await stores.write(async (tx) => {
      await tx.facts.pin('card-key', elsewhere)
      await tx.facts.pin('manager', here)
      await issued(tx, await defined(tx, 2), [1003])
      const definition = await defined(tx, 1)
      await issued(tx, definition, [1001, 1002])
      for (const number of [1, 2, 3]) await received(tx, number, { service: here })
      // Another service's voucher whose replacement has the handle of one of ours.
      await received(tx, 4, { replacement: handle(1002) })
      return definition
    })
    expect(await phases()).toEqual([null, 'minted', 'minted', 'minted'])
    await stores.write(async (tx) => {
      const voucher = found(await tx.vouchers.find(handle(1001)))
      await tx.vouchers.claim(voucher, filed, at)
      await tx.vouchers.kill(definition.rowId, 1, at)
    })
    expect(await phases()).toEqual([null, 'minted', 'voided', 'claimed'])
    const worth = () => stores.read((tx) => tx.inbox.count(key(1), key(2), at))
    expect(await worth()).toEqual({ total: 4, unspent: 2, ofOwner: 2 })
    await stores.write((tx) => tx.inbox.removeWorthless(key(1), 9, at))
    expect(await phases()).toEqual([null, 'minted'])
    expect(await worth()).toEqual({ total: 2, unspent: 2, ofOwner: 2 })
  })

  it('possibly valid vouchers are counted, and those of one merchant', async (stores) => {
    await stores.write(async (tx) => {
      await tx.facts.pin('manager', here)
      const definition = await defined(tx, 1)
      const [voucher] = await issued(tx, definition, [1001, 1002])
      await tx.vouchers.void(found(voucher), at)
      for (const number of [1, 2]) await received(tx, number, { service: here })
      await received(tx, 3, expiring(at + 5))
      await received(tx, 4, { promised: { owner: key(3) } })
    })
    const counted = (now: number) => stores.read((tx) => tx.inbox.count(key(1), key(2), now))
    expect(await counted(at + 4)).toEqual({ total: 4, unspent: 3, ofOwner: 2 })
    expect(await counted(at + 5)).toEqual({ total: 4, unspent: 2, ofOwner: 1 })
    const none = await stores.read((tx) => tx.inbox.count(key(9), key(2), at))
    expect(none).toEqual({ total: 0, unspent: 0, ofOwner: 0 })
  })

  it('spent and expired vouchers are deleted from the oldest on, a bounded number at a time, and no other', async (stores) => {
    await stores.write(async (tx) => {
      await tx.facts.pin('manager', here)
      await received(tx, 5, { ...expiring(at), holder: key(5) })
      await received(tx, 1)
      for (const number of [2, 3, 4]) await received(tx, number, expiring(at))
      await tx.inbox.removeWorthless(key(1), 2, at)
    })
    const left = (holder: number) =>
      stores.read(async (tx) => (await tx.inbox.list(key(holder), 10)).map((one) => one.handle))
    expect([await left(1), await left(5)]).toEqual([[handle(1004), handle(1001)], [handle(1005)]])
  })

  it('a voucher is deleted once, by its holder only, and its transfer stays', async (stores) => {
    await stores.write(async (tx) => {
      await tx.facts.pin('manager', here)
      for (const number of [1, 2]) await received(tx, number)
    })
    const remove = (holder: number) =>
      stores.write((tx) => tx.inbox.remove(key(holder), handle(1001)))
    expect(await remove(5)).toBe(false)
    expect(count(await Promise.all([remove(1), remove(1)]))).toBe(1)
    await stores.read(async (tx) => {
      expect(await tx.transfers.holderOf(ref(1))).toBe(key(1))
      expect(await tx.inbox.list(key(1), 10)).toMatchObject([{ handle: handle(1002) }])
    })
  })

  it('a row without a transfer, or with half a key, is refused; an undone one is not stored', async (stores) => {
    const held = { couponId: 'x', owner: key(2), terms, comment: null, rules: null, holder: key(1) }
    const sealed = { pubkey: key(70), payload: '' }
    await stores.refuses((tx) => tx.inbox.insert({ ...held, id: 99, sealed }))
    await stores.refuses((tx) => received(tx, 1, { promised: { owner: 'ab' } }))
    await stores.undone((tx) => received(tx, 1))
  })
}
