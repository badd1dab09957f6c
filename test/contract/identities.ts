import { expect } from 'bun:test'
import { at, bytes, count, event, found, key, most, succeeds, uuid } from './fixtures.ts'
import type { CouponTx, It } from './harness.ts'

function account(number: number, parts: object = {}) {
  return {
    uuid: uuid(number),
    name: `nombre-${number}`,
    pubkey: key(number),
    lud16: null,
    nonceId: null,
    createdBy: key(99),
    createdAt: at,
    ...parts,
  }
}

export function accounts(it: It<CouponTx>): void {
  it('an account is found by its name and by its key, with the wallet as it was registered', async (stores) => {
    const lud16 = { callback: 'https://example.com/ñ', min: 1, nested: { list: [null, 'x'] } }
    await stores.write((tx) => tx.accounts.insert(account(1, { lud16 })))
    await stores.read(async (tx) => {
      const one = found(await tx.accounts.findByName('nombre-1'))
      expect(one).toMatchObject({ uuid: uuid(1), pubkey: key(1), lud16, allowVouchers: true })
      expect(await tx.accounts.findByKey(key(1))).toEqual(one)
      expect(await tx.accounts.findByName('Nombre-1')).toBeNull()
      expect(await tx.accounts.findByKey(key(2))).toBeNull()
    })
  })

  it('a name and a key are used once, also by simultaneous writers', async (stores) => {
    const insert = (parts: object) =>
      succeeds(stores.write((tx) => tx.accounts.insert(account(1, parts))))
    expect(count(await Promise.all([insert({}), insert({ uuid: uuid(2) })]))).toBe(1)
    await stores.refuses((tx) => tx.accounts.insert(account(3, { name: 'nombre-1' })))
    await stores.refuses((tx) => tx.accounts.insert(account(3, { pubkey: key(1) })))
  })

  it('an invalid name, a wallet that is no object, and a missing nonce are refused', async (stores) => {
    for (const parts of [
      { name: '' },
      { name: 'Mayúscula' },
      { name: 'a'.repeat(65) },
      { lud16: [1] },
      { nonceId: 999 },
      { createdBy: 'ab' },
    ]) {
      await stores.refuses((tx) => tx.accounts.insert(account(1, parts)))
    }
  })

  it('a nonce registers one account', async (stores) => {
    const nonceId = await stores.write(async (tx) => {
      await tx.nonces.insert(bytes(32, 1), key(9), at)
      return found(await tx.nonces.find(bytes(32, 1))).id
    })
    await stores.write((tx) => tx.accounts.insert(account(1, { nonceId })))
    await stores.refuses((tx) => tx.accounts.insert(account(2, { nonceId })))
  })

  it('accounts come page by page in the order of their names', async (stores) => {
    const names = ['b', 'a', 'a-b', 'a.b', 'a_b', 'ab', '0']
    await stores.write(async (tx) => {
      for (const [number, name] of names.entries())
        await tx.accounts.insert(account(number, { name }))
    })
    const page = (after: string, most: number) =>
      stores.read(async (tx) => (await tx.accounts.page(after, most)).map(({ name }) => name))
    // Byte by byte, whatever the language of the machine.
    const ordered = ['0', 'a', 'a-b', 'a.b', 'a_b', 'ab', 'b']
    expect(await page('', 100)).toEqual(ordered)
    expect(await page('a.b', 2)).toEqual(['a_b', 'ab'])
    expect(await page('b', 2)).toEqual([])
  })

  it('an account stores whether it takes vouchers, and is removed', async (stores) => {
    for (const number of [1, 3]) {
      await stores.write((tx) => tx.accounts.insert(account(number)))
    }
    const allow = (number: number) =>
      stores.write((tx) => tx.accounts.allowVouchers(key(number), false))
    expect([await allow(1), await allow(2)]).toEqual([true, false])
    const one = await stores.read((tx) => tx.accounts.findByKey(key(1)))
    expect(one?.allowVouchers).toBe(false)
    await stores.write((tx) => tx.accounts.remove(found(one).id))
    await stores.read(async (tx) => {
      expect(await tx.accounts.findByKey(key(1))).toBeNull()
      expect(await tx.accounts.findByKey(key(3))).toMatchObject({ allowVouchers: true })
    })
  })

  it('an undone transaction leaves nothing', (stores) =>
    stores.undone(async (tx) => {
      await tx.accounts.insert(account(1))
      await tx.accounts.allowVouchers(key(1), false)
    }))
}

export function nonces(it: It<CouponTx>): void {
  /** Written at this time; its row. */
  const made = async (tx: CouponTx, number: number, time: number) => {
    expect(await tx.nonces.insert(bytes(32, number), key(1), time)).toBe(true)
    return found(await tx.nonces.find(bytes(32, number))).id
  }

  it('a nonce is burned once, also by simultaneous writers', async (stores) => {
    await stores.write((tx) => made(tx, 2, at))
    const id = await stores.write((tx) => made(tx, 1, at))
    const burn = () => stores.write((tx) => tx.nonces.burn(id, at))
    expect(count(await Promise.all([burn(), burn(), burn()]))).toBe(1)
    expect(await stores.read((tx) => tx.nonces.find(bytes(32, 1)))).toEqual({ id, burned: true })
    expect(await stores.write((tx) => tx.nonces.burn(id + 1, at))).toBe(false)
    const other = await stores.read((tx) => tx.nonces.find(bytes(32, 2)))
    expect(other).toMatchObject({ burned: false })
  })

  it('a present or former nonce is not stored again', async (stores) => {
    const id = await stores.write((tx) => made(tx, 1, at))
    const again = () => stores.write((tx) => tx.nonces.insert(bytes(32, 1), key(2), at))
    expect(await again()).toBe(false)
    await stores.write((tx) => tx.nonces.burn(id, at))
    expect(await again()).toBe(false)
    expect(await stores.read((tx) => tx.nonces.find(bytes(32, 2)))).toBeNull()
    await stores.refuses((tx) => tx.nonces.insert(bytes(31, 1), key(1), at))
  })

  it('nonces are deleted from the oldest on, a bounded number at a time, unless they are burned', async (stores) => {
    await stores.write(async (tx) => {
      for (const [number, time] of [1, 2, 3].entries()) {
        await tx.nonces.burn(await made(tx, number, time), 4)
      }
      for (const [number, time] of [7, 5, 6, 10].entries()) await made(tx, 10 + number, time)
    })
    const prune = () => stores.write((tx) => tx.nonces.prune(2, 10))
    const open = () => stores.read((tx) => tx.nonces.countOpen(key(1)))
    expect([await open(), await prune()]).toEqual([4, 2])
    expect(await stores.read((tx) => tx.nonces.find(bytes(32, 10)))).not.toBeNull()
    expect([await prune(), await prune(), await open()]).toEqual([1, 0, 1])
    expect(await stores.read((tx) => tx.nonces.find(bytes(32, 0)))).toMatchObject({ burned: true })
    expect(await stores.read((tx) => tx.nonces.countOpen(key(2)))).toBe(0)
  })

  it('nonces of one issuer are deleted apart', async (stores) => {
    await stores.write(async (tx) => {
      for (const number of [1, 2]) await made(tx, number, 5)
      await tx.nonces.burn(await made(tx, 3, 5), 6)
      await made(tx, 4, 20)
      await tx.nonces.insert(bytes(32, 5), key(2), 5)
    })
    const prune = (most: number) => stores.write((tx) => tx.nonces.pruneOf(key(1), most, 10))
    expect([await prune(1), await prune(9), await prune(9)]).toEqual([1, 1, 0])
    const kept = [3, 4, 5].map((number) => stores.read((tx) => tx.nonces.find(bytes(32, number))))
    expect(await Promise.all(kept)).not.toContain(null)
  })

  it('an undone transaction leaves nothing', (stores) =>
    stores.undone(async (tx) => {
      await tx.nonces.burn(await made(tx, 1, at), at)
    }))
}

export function requests(it: It<CouponTx>): void {
  it('a request is stored with its answer byte by byte, or without one', async (stores) => {
    const answer = Uint8Array.from([0, 1, 255])
    await stores.write(async (tx) => {
      await tx.requests.insert(event(1).id, answer, at)
      await tx.requests.insert(event(2).id, null, most)
      await tx.requests.insert(event(3).id, new Uint8Array(), at)
    })
    await stores.read(async (tx) => {
      expect(await tx.requests.find(event(1).id)).toEqual({ answer })
      expect(await tx.requests.find(event(2).id)).toEqual({ answer: null })
      expect(await tx.requests.find(event(3).id)).toEqual({ answer: new Uint8Array() })
      expect(await tx.requests.find(event(4).id)).toBeNull()
      expect(await tx.requests.load()).toBe(3)
    })
  })

  it('a request is stored once, also by simultaneous writers, and counted once', async (stores) => {
    const insert = () => succeeds(stores.write((tx) => tx.requests.insert(event(1).id, null, at)))
    expect(count(await Promise.all([insert(), insert(), insert()]))).toBe(1)
    expect(await stores.read((tx) => tx.requests.load())).toBe(1)
    await stores.refuses((tx) => tx.requests.insert(event(1).id, null, at))
    await stores.refuses((tx) => tx.requests.insert('ab', null, at))
  })

  it('requests that could not be repeated are deleted, the oldest first, a bounded number at a time', async (stores) => {
    await stores.write(async (tx) => {
      for (const number of [1, 2, 3, 4])
        await tx.requests.insert(event(number).id, null, at + number)
    })
    const prune = (rowsMax: number, before: number) =>
      stores.write((tx) => tx.requests.prune(rowsMax, before))
    expect([await prune(9, at + 1), await prune(2, at + 4), await prune(2, at + 4)]).toEqual([
      0, 2, 1,
    ])
    expect(await stores.read((tx) => tx.requests.load())).toBe(1)
    expect(await stores.read((tx) => tx.requests.find(event(4).id))).not.toBeNull()
  })

  it('an undone transaction leaves nothing', async (stores) => {
    await stores.write((tx) => tx.requests.insert(event(1).id, null, at))
    await stores.undone(async (tx) => {
      await tx.requests.insert(event(2).id, null, at)
      await tx.requests.prune(1, most)
    })
  })
}
