import { type AuthReason, authReasonOf, Refusal } from '../base/refusal.ts'
import type { First, Locking } from '../db/database.ts'
import type { Caller } from '../session/caller.ts'
import { type Answer, once, type Repeat, signedAnswer } from './answer.ts'
import type { Money } from './money.ts'
import { couponChanged } from './news.ts'
import { handleOf } from './nonce.ts'
import { requireRules } from './rules.ts'
import type { CouponService, CouponStores } from './service.ts'
import { beginClaimed, refusalFor, spendable } from './voucher.ts'
import { parseAmountMsat, parseZapRequest } from './zap-request.ts'

type ClaimInput = {
  nonce: string
  /** Public key of the till's merchant, in hex. Null if the till does not name one. */
  owner: string | null
  /** Untrusted, like `amountMsat`. Stored if valid, else dropped, because an order must not stop a redemption. */
  zapRequest: unknown
  amountMsat: unknown
  /** The purchase of the customer. Null if the till does not name it. */
  purchase: Money | null
}

type Outcome = { status: 'success' | 'claimed'; claimedAt: number; zapRequestKept?: boolean }

/** Check the authentication of the request. Its refusal, as a value, if it is missing or not valid. */
type Identify = () => Promise<Caller | Refusal>

/**
 * Redeem a voucher. The redemption names the key of a valid authentication. A second claim answers with the
 * time and the event id of the first one, and status `claimed`. Refuses `voucher-unknown`,
 * `idempotency-key-reused`, `other-merchant`, `till-not-allowed`, `voucher-moved`, `voucher-cancelled`,
 * `voucher-expired`, `not-now`, `minimum-not-met`.
 */
export async function claim(
  service: CouponService,
  input: ClaimInput,
  repeat: Repeat | null,
  identify: Identify | null,
): Promise<Answer> {
  const handle = handleOf(input.nonce)
  const till = createTill(
    identify && (await dependsOnTill(service, input)) ? await identify() : null,
  )
  const plan = { roots: [{ voucher: handle }], first: till.first }
  return service.database.transact(plan, async (tx) => {
    const found = await tx.vouchers.findToClaim(handle)
    if (!found) throw new Refusal('voucher-unknown')
    const { voucher, onlyAuthorizedTills } = found
    const answer = (outcome: Outcome, kept: Repeat | null): Answer => {
      const issued = { ...voucher, nonce: input.nonce }
      const result = beginClaimed(service.signer, issued, outcome.claimedAt)
      return signedAnswer(tx, kept, () => JSON.stringify({ ...outcome, ...result() }))
    }
    return once(service, tx, repeat, async () => {
      // Checked before the phase, so that the till of another shop does not learn the fate of the voucher.
      if (input.owner !== null && input.owner !== voucher.owner) throw new Refusal('other-merchant')
      const now = service.now()
      if (voucher.phase === 'claimed') {
        // Built again from the row, so that a repeat needs no stored answer and no key.
        const again = answer({ status: 'claimed', claimedAt: voucher.endedAt ?? now }, null)
        return Object.assign(again, { kept: false as const })
      }
      const by = await till.by(tx, voucher.owner)
      if (onlyAuthorizedTills && !by?.listed) throw notAllowed(till.reason())
      if (!spendable(voucher, now)) throw refusalFor(voucher, now, 'claim')
      requireRules(voucher.terms, input.purchase, now)

      // Everything that can fail comes before `claim`: after that write the voucher is spent.
      const sent = parseZapRequest(input.zapRequest, voucher, input.nonce, service.verify)
      const order = sent && (await hasRoom(service, tx, voucher.owner, sent.json)) ? sent : null
      const filed = {
        zapRequest: order?.json ?? null,
        zapRequestId: order?.id ?? null,
        amountMsat: parseAmountMsat(input.amountMsat),
        purchase: input.purchase,
        by,
      }
      const outcome: Outcome = {
        ...{ status: 'success', claimedAt: now },
        // Told only to a till that sent one, since nothing else says that an order was dropped.
        ...((input.zapRequest ?? null) !== null && { zapRequestKept: order !== null }),
      }
      const success = answer(outcome, repeat)
      if (!(await tx.vouchers.claim(voucher, filed, now))) throw refusalFor(voucher, now, 'claim')
      const { owner, couponId } = voucher
      const { amountMsat } = filed
      const change = { type: 'claimed', owner, couponId, at: now, handle, amountMsat } as const
      tx.tell(couponChanged, change)
      return success
    })
  })
}

/** With the reason of a failed authentication: such a till may be authorised, and helps itself by another session. */
function notAllowed(reason: AuthReason | undefined): Refusal {
  return new Refusal('till-not-allowed', reason === undefined ? {} : { reason })
}

/**
 * True if the answer may depend on the till. Authentication is checked for such a voucher only, so that a client
 * without a voucher cannot make the service verify signatures.
 */
async function dependsOnTill(
  service: CouponService,
  { nonce, owner }: ClaimInput,
): Promise<boolean> {
  const voucher = await service.database.snapshot((tx) => tx.vouchers.find(handleOf(nonce)))
  if (!voucher || (owner !== null && owner !== voucher.owner)) return false
  return voucher.phase !== 'claimed'
}

/**
 * The till of a claim. Null stands for no authentication. A signature that was used before makes it anonymous, and
 * refuses nothing.
 */
function createTill(identified: Caller | Refusal | null) {
  const failed = identified instanceof Refusal ? identified : null
  const caller = identified instanceof Refusal ? null : identified
  const spend = caller?.spend
  let repeated: Refusal | null = null
  const first: First<CouponStores> | undefined =
    spend &&
    (async (tx) => {
      repeated = null
      try {
        await spend(tx)
      } catch (refused) {
        if (!(refused instanceof Refusal)) throw refused
        repeated = refused
      }
    })
  return {
    first,
    /** The `reason` why it is anonymous; undefined if it is not. */
    reason() {
      const refused = failed ?? repeated
      if (refused) return authReasonOf(refused)
      return caller ? undefined : authReasonOf({ code: 'auth-missing' })
    },
    /** Its key, and if that is the owner's or a minter's. Null for an anonymous till. */
    async by(tx: CouponStores, owner: string) {
      if (!caller || repeated) return null
      const { pubkey } = caller
      const listed = pubkey === owner || (await tx.minters.find(owner, pubkey)) !== null
      return { pubkey, listed }
    },
  }
}

/** True if the merchant's quota has room for an order. A full quota drops the order, never the redemption. */
async function hasRoom(
  service: CouponService,
  tx: CouponStores & Locking,
  owner: string,
  text: string,
) {
  try {
    await service.charge(tx, owner, { bytes: Buffer.byteLength(text) })
    return true
  } catch (refused) {
    if (refused instanceof Refusal) return false
    throw refused
  }
}
