import { limits } from '../../../base/limits.ts'
import { Refusal } from '../../../base/refusal.ts'
import { amountView } from '../../ledger/amount.ts'
import type { Card } from '../card-store.ts'
import { openAt, openDelegation } from '../delegation.ts'
import { type GenuineTap, readTap, requireWorking } from '../read-tap.ts'
import type { Scan } from '../scan-store.ts'
import type { CardStores, Cards } from '../service.ts'
import { allowanceOf } from './allowance.ts'
import { info } from './info.ts'

type ScanInput = {
  p: unknown
  c: unknown
  /** Values of `X-LaWallet-Action` and `X-LaWallet-Param`. */
  action: string | null
  param: string | null
  /** The origin that was asked. */
  base: string
}

/** The token of LUD-03, in thousandths of a satoshi. */
const lightningToken = 'BTC'
const description = 'Pago con tarjeta'

/**
 * Answer a tap: as LUD-03 does, or as its headers ask when they name our federation. Refuses
 * `action-unknown`, `tap-invalid`, `card-unknown`, `card-unconfirmed`, `tap-used`, `card-inactive`,
 * `card-disabled`, `delegation-over`, `no-gateway`, `token-unknown`, `pay-request-unknown`.
 */
export async function scan(cards: Cards, input: ScanInput): Promise<object> {
  const asked = parseAsked(cards, input)
  const tap = await readTap(cards, input.p, input.c)
  if (asked.action === 'payRequest') return payRequest(cards, tap, input.base)
  return cards.database.transact({ roots: [{ card: tap.cid }], first: tap.count }, async (tx) => {
    const card = await tx.cards.findById(tap.cardId)
    if (asked.action === 'info') return info(cards, tx, card)
    const working = requireWorking(card)
    if (asked.action === 'identityQuery') {
      return { tag: 'laWallet:identityQuery', accountPubKey: working.holder }
    }
    const delegation = openDelegation(cards.storeKey, working)
    if (!delegation || !openAt(delegation.window, cards.now())) throw new Refusal('delegation-over')
    return asked.action === 'extendedScan'
      ? extended(cards, tx, working, { tokens: asked.tokens, base: input.base })
      : standard(cards, tx, working, input.base)
  })
}

const actions = ['extendedScan', 'identityQuery', 'info', 'payRequest'] as const
type Action = (typeof actions)[number] | 'standard'

function parseAsked(
  { federationId }: Cards,
  { action, param }: ScanInput,
): { action: Action; tokens: string[] | null } {
  const params = new Map(
    (param ?? '').split(',').map((part) => {
      const [name = '', ...value] = part.split('=')
      return [name.trim(), value.join('=').trim()] as const
    }),
  )
  // A till of another federation gets the LUD-03 answer, which every wallet understands.
  const ours = params.get('federationId')?.toLowerCase() === federationId.toLowerCase()
  if (action === null || !ours) return { action: 'standard', tokens: null }
  const known = actions.find((name) => name === action.trim())
  if (!known) throw new Refusal('action-unknown')
  const tokens = params.get('tokens')?.split(':')
  return { action: known, tokens: tokens ? tokens.map((token) => token.trim()) : null }
}

async function payRequest(
  { database, payRequest }: Cards,
  { cardId, cid, count }: GenuineTap,
  base: string,
): Promise<object> {
  const find = async (tx: CardStores) => requireWorking(await tx.cards.findById(cardId)).holder
  const holder = await database.transact({ roots: [{ card: cid }], first: count }, find)
  const answer = await payRequest(holder, base)
  if (!answer) throw new Refusal('pay-request-unknown')
  return answer
}

async function standard(
  cards: Cards,
  tx: CardStores,
  card: Card & { holder: string },
  base: string,
): Promise<object> {
  if (cards.gatewayPubkey === null || !cards.funds.tokens().includes(lightningToken)) {
    throw new Refusal('no-gateway')
  }
  const most = await allowanceOf(cards, tx, card, lightningToken)
  return {
    tag: 'withdrawRequest',
    callback: `${base}/card/pay`,
    k1: await giveK1(cards, tx, card, 'standard', new Map([[lightningToken, most]])),
    defaultDescription: description,
    ...bounds(most),
  }
}

async function extended(
  cards: Cards,
  tx: CardStores,
  card: Card & { holder: string },
  { tokens, base }: { tokens: string[] | null; base: string },
): Promise<object> {
  const known = cards.funds.tokens()
  const wanted = tokens ? [...new Set(tokens)].filter((token) => known.includes(token)) : known
  if (wanted.length === 0) throw new Refusal('token-unknown')
  const maxima = new Map<string, bigint>()
  for (const token of wanted) {
    maxima.set(token, await allowanceOf(cards, tx, card, token))
  }
  return {
    tag: 'laWallet:withdrawRequest',
    callback: `${base}/card/pay`,
    k1: await giveK1(cards, tx, card, 'extended', maxima),
    defaultDescription: description,
    tokens: Object.fromEntries([...maxima].map(([token, most]) => [token, bounds(most)])),
  }
}

function bounds(most: bigint) {
  return { minWithdrawable: most > 0n ? 1 : 0, maxWithdrawable: amountView(most) }
}

async function giveK1(
  { newK1, now }: Cards,
  tx: CardStores,
  { id, holder }: Card & { holder: string },
  form: Scan['form'],
  maxima: Map<string, bigint>,
): Promise<string> {
  const k1 = newK1()
  const createdAt = now()
  const expiresAt = createdAt + limits.scanSeconds
  await tx.scans.insert(k1, { cardId: id, holder, form, maxima, createdAt, expiresAt })
  return k1
}
