/** The contract of a change and of the row that follows from it, which the statement port writes together. */
import { expect } from 'bun:test'
import { bytesOf } from '../../src/base/bytes.ts'
import type { SqlValue } from '../../src/db/sql.ts'
import { key } from './fixtures.ts'
import type { CouponTx, It } from './harness.ts'

type Sql = CouponTx['sql']
type Params = [Uint8Array, Uint8Array, Uint8Array]
const [owner, first, second, third] = [1, 2, 3, 4].map((number) => bytesOf(key(number))) as [
  Uint8Array,
  ...Params,
]

/** Give a till another key, and its owner one more till. */
const exchange = (sql: Sql) =>
  sql.changeThenInsert<Params>({
    update: 'UPDATE tills SET pubkey = ?2 WHERE pubkey = ?1',
    into: 'tills',
    values: {
      owner: { changed: 'owner', found: '(SELECT owner FROM tills WHERE pubkey = ?2)' },
      pubkey: '?3',
    },
  })

async function tillsOf(sql: Sql): Promise<SqlValue[][]> {
  const all = sql.query<{ owner: Uint8Array; pubkey: Uint8Array }, []>(
    'SELECT owner, pubkey FROM tills ORDER BY id',
  )
  return (await all.all()).map((row) => [row.owner.toHex(), row.pubkey.toHex()])
}

export function pairs(it: It<CouponTx>): void {
  const begin = async ({ sql }: CouponTx) => {
    const insert = sql.query<null, [Uint8Array, Uint8Array]>(
      'INSERT INTO tills (owner, pubkey) VALUES (?, ?)',
    )
    expect(await insert.changes(owner, first)).toBe(1)
  }
  const own = owner.toHex()

  it('a row that is changed gives its values to the one that follows', async (stores) => {
    await stores.write(begin)
    const written = await stores.write(({ sql }) => exchange(sql).expectOne(first, second, third))
    expect(written).toBe(true)
    expect(await stores.read(({ sql }) => tillsOf(sql))).toEqual([
      [own, second.toHex()],
      [own, third.toHex()],
    ])
  })

  it('where no row is changed none follows, and the operation is told', async (stores) => {
    await stores.write(begin)
    const written = await stores.write(({ sql }) => exchange(sql).expectOne(third, second, third))
    expect(written).toBe(false)
    expect(await stores.read(({ sql }) => tillsOf(sql))).toEqual([[own, first.toHex()]])
  })
}
