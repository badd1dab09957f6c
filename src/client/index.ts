/** The published client of the HTTP API, `cuponera/client`. */

// biome-ignore-start lint/performance/noBarrelFile: a package has one door
export { ApiError, type FailureCode } from './api-error.ts'
export { openBunker } from './bunker.ts'
export type { Caller, CallOptions, KeyStorage } from './caller.ts'
export { type Client, type ClientOptions, createClient } from './client.ts'
export type * from './described/cards.ts'
export type { RefusalCode } from './described/codes.ts'
export type * from './described/coupons.ts'
export type * from './described/lists.ts'
export type { OperationName, Operations } from './described/operations.ts'
export type * from './described/shop.ts'
export type * from './described/vouchers.ts'
export type * from './described/wallet.ts'
export { type Issued, issue } from './issue.ts'
export type { Failed } from './outcome.ts'
export { type Received, receive } from './receive.ts'
export { type Redeemed, redeem } from './redeem.ts'
export { type EventSigner, SignerError } from './signer.ts'
export { openExtension } from './signer-extension.ts'
export { openKey } from './signer-key.ts'
export { type Verdict, verifyVoucher } from './voucher-proof.ts'
// biome-ignore-end lint/performance/noBarrelFile: a package has one door
