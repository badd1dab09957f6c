import { bytesOf, hexOf } from '../base/bytes.ts'
import type { Sql } from '../db/sql.ts'
import { isShopColor, type ShopColor } from './color.ts'

/** Settings of a merchant's shop. Unset is null. */
export type Shop = {
  name: string | null
  color: ShopColor | null
  /** The logo: an uploaded picture (sha256, hex). */
  picture: string | null
  /** Only tills of the owner and of its minters redeem its vouchers. */
  onlyAuthorizedTills: boolean
}

type ShopRow = {
  name: string | null
  color: string | null
  picture: Uint8Array | null
  only_authorized_tills: number
}

export type ShopStore = ReturnType<typeof createShopStore>

/** Store of the settings of shops, one row a merchant. */
export function createShopStore(sql: Sql) {
  const find = sql.query<ShopRow, [Uint8Array]>(
    'SELECT name, color, picture, only_authorized_tills FROM shops WHERE owner = ?',
  )
  const put = sql.query<
    null,
    [Uint8Array, string | null, string | null, Uint8Array | null, number, number]
  >(
    `INSERT INTO shops (owner, name, color, picture, only_authorized_tills, updated_at)
     VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (owner) DO UPDATE SET name = excluded.name, color = excluded.color,
       picture = excluded.picture, only_authorized_tills = excluded.only_authorized_tills, updated_at = excluded.updated_at`,
  )

  return {
    /** The settings of an owner (hex). All unset if nothing was ever stored. */
    async find(owner: string): Promise<Shop> {
      const row = await find.get(bytesOf(owner))
      const color = row?.color
      // A newer version of the program may have stored a colour that this one does not know.
      return {
        name: row?.name ?? null,
        color: isShopColor(color) ? color : null,
        picture: row?.picture ? hexOf(row.picture) : null,
        onlyAuthorizedTills: row?.only_authorized_tills === 1,
      }
    },

    /** Replace the settings of an owner. `at` in Unix seconds. */
    async put(owner: string, shop: Shop, at: number): Promise<void> {
      const { name, color, picture, onlyAuthorizedTills } = shop
      const logo = picture === null ? null : bytesOf(picture)
      put.run(bytesOf(owner), name, color, logo, onlyAuthorizedTills ? 1 : 0, at)
    },
  }
}
