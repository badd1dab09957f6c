import { newSigner } from '../support/client.ts'

/** Keys of the bench alone: one session and one made file serve every server it starts. */
export const benchKeys = {
  COUPON_MANAGER_NSEC: '11'.repeat(32),
  STORE_KEY: '22'.repeat(32),
  SESSION_JWT_SECRET: 'the bench signs its own sessions with this',
  CARD_MASTER_KEY: '66'.repeat(16),
  merchant: '33'.repeat(32),
  /** The holder of the bench's card; issues its token, too, so that he can always pay. */
  holder: '44'.repeat(32),
  till: '55'.repeat(32),
}

/** The environment that gives a product server those keys, without limits and without chatter. */
export const benchEnvironment = {
  COUPON_MANAGER_NSEC: benchKeys.COUPON_MANAGER_NSEC,
  STORE_KEY: benchKeys.STORE_KEY,
  SESSION_JWT_SECRET: benchKeys.SESSION_JWT_SECRET,
  CARD_MASTER_KEY: benchKeys.CARD_MASTER_KEY,
  TOKENS: `PESO:0:${newSigner(Uint8Array.fromHex(benchKeys.holder)).pubkey}`,
  RATE_LIMIT: 'off',
  LOG_LEVEL: 'warn',
}

/** The terms of every voucher of the bench. */
export const benchDefinition = {
  name: 'Café con medialunas',
  benefit: { type: 'percent' as const, percent: 10 },
}
