import type { Static } from '@sinclair/typebox'
import { parseJsonObject } from '../../base/json.ts'
import { limits } from '../../base/limits.ts'
import { Refusal, sentenceOf } from '../../base/refusal.ts'
import { parseForeignText } from '../../base/words.ts'
import type { Account } from './account-store.ts'
import type { PaymentModel } from './models.ts'
import type { Identities } from './service.ts'

/** Parameters that a payer sends to a callback (LUD-06). */
type PaymentQuery = Static<typeof PaymentModel>

/** The account of that name, if it takes payments or vouchers. Refuses `account-unknown`. */
async function requireAccount({ database }: Identities, name: string): Promise<Account> {
  const account = await database.snapshot((tx) => tx.accounts.findByName(name.toLowerCase()))
  if (!account || (account.lud16 === null && !account.allowVouchers)) {
    throw new Refusal('account-unknown')
  }
  return account
}

/**
 * The first answer to a payer, or to the sender of a voucher (LUD-16): the object of the holder's own
 * wallet, with our callback. `base` is the address of this service. Refuses `account-unknown`.
 */
export async function payRequest(identities: Identities, text: string, base: string) {
  const { name, pubkey, lud16, allowVouchers } = await requireAccount(identities, text)
  return {
    ...(lud16 ?? vouchersOnly(`${name}@${new URL(base).host}`)),
    callback: `${base}/api/lud16/${encodeURIComponent(name)}/cb`,
    allowVouchers,
    accountPubKey: pubkey,
    federationId: identities.federationId,
  }
}

/** `payRequest` for the holder of a key; null when it takes no payments. */
export async function payRequestOf(identities: Identities, pubkey: string, base: string) {
  const account = await identities.database.snapshot((tx) => tx.accounts.findByKey(pubkey))
  return account?.lud16 ? payRequest(identities, account.name, base) : null
}

/**
 * The LUD-06 object of an account without a wallet. Its bounds are ordinary ones, since LNURL clients refuse others
 * and never see that it takes vouchers. The callback refuses every payment.
 */
function vouchersOnly(address: string) {
  const metadata = [
    ['text/identifier', address],
    ['text/plain', address],
  ]
  return {
    tag: 'payRequest',
    minSendable: limits.offeredPaymentMsat.least,
    maxSendable: limits.offeredPaymentMsat.most,
    metadata: JSON.stringify(metadata),
  }
}

/**
 * Ask the holder's own wallet for an invoice; the result is its answer. Refuses `account-unknown`,
 * `payments-not-taken`, `amount-invalid`, `field-invalid`, `overloaded`, `wallet-unreachable`.
 */
export async function forwardPayment(
  identities: Identities,
  text: string,
  { amount = '', comment, nostr }: PaymentQuery,
): Promise<{ status: number; body: string }> {
  const { name, lud16 } = await requireAccount(identities, text)
  if (lud16 === null) throw new Refusal('payments-not-taken')
  const { minSendable, maxSendable, callback } = lud16
  const known = /^\d{1,16}$/.test(amount)
  if (!known || Number(amount) < Number(minSendable) || Number(amount) > Number(maxSendable)) {
    throw new Refusal('amount-invalid')
  }
  const url = new URL(String(callback))
  for (const [field, value] of Object.entries({ amount, comment, nostr })) {
    if (value === undefined) continue
    if (value.length > limits.paymentFieldCharsMax) throw new Refusal('field-invalid', { field })
    url.searchParams.set(field, value)
  }
  const answer = await identities.askWallet(name, url)
  if (!answer || answer.status >= 500) throw new Refusal('wallet-unreachable')
  return { status: answer.status < 300 ? 200 : 400, body: withPlainReason(answer.body) }
}

/** A wallet's JSON; its `reason`, which payers see, is made plain text. */
function withPlainReason(body: string): string {
  const said = parseJsonObject(body, limits.callbackBodyBytesMax)
  if (!said || said.reason === undefined) return body
  const reason =
    parseForeignText(said.reason, limits.foreignReasonCharsMax) ??
    sentenceOf(new Refusal('wallet-unreachable'))
  return JSON.stringify({ ...said, reason })
}
