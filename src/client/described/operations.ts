// Written by `npm run client-types` from the OpenAPI document.

import type { CardsOperations } from './cards.ts'
import type { CouponsOperations } from './coupons.ts'
import type { ListsOperations } from './lists.ts'
import type { ShopOperations } from './shop.ts'
import type { VouchersOperations } from './vouchers.ts'
import type { WalletOperations } from './wallet.ts'

/** Input and answer by method and path, such as `POST /api/coupons/claim`. */
export type Operations = VouchersOperations &
  ListsOperations &
  CouponsOperations &
  WalletOperations &
  CardsOperations &
  ShopOperations

export type OperationName = keyof Operations

/** A value of a query. Null and undefined are left out. */
export type Asked = string | number | null | undefined

/**
 * `once`: your own name of this operation, whose Idempotency-Key the client keeps. `key`: one that you
 * keep.
 */
export type Keyed = { once: string; key?: never } | { key: string; once?: never }

export type MayBeKeyed = Keyed | { once?: never; key?: never }
