/** Transfers from another service by name: a voucher that comes, and a swap that was begun before. */
import { Refusal } from '../../../src/base/refusal.ts'
import { handleOf } from '../../../src/coupons/nonce.ts'
import type { NostrEvent } from '../../../src/nostr/event.ts'
import { receive } from '../../../src/wallet/transfers/receive.ts'
import type { Swapped, Transfers } from '../../../src/wallet/transfers/service.ts'
import { sealIntent, swap } from '../../../src/wallet/transfers/swap.ts'
import { newSigner, percentBenefit, verifyEvent } from '../../support/client.ts'
import type { Operations, Parts } from './operations.ts'
import { asStep } from './steps.ts'

/** A voucher of the other service, and the one that it gives for it. */
type Foreign = { nonce: string; voucher: NostrEvent; replacement: NostrEvent; next: string }

export type ForeignWorld = {
  service: string
  /** The voucher that is sent, and that of the intent. */
  sent: Foreign
  begun: Foreign
  intent: number
}

/** Add two holders, and the intent of a swap whose first attempt has begun. */
export async function fillTransfers({ world, plain, engine }: Omit<Parts, 'metered'>) {
  const { at, coupons } = plain
  const [service, eva, fede] = [newSigner(), newSigner(), newSigner()]
  const sign = (nonce: string) =>
    service.sign({
      kind: 20_402,
      created_at: at,
      tags: [
        ['nonce', nonce],
        ['p', world.owner.pubkey],
        ['coupon', 'c0ffee'],
        ['phase', 'minted'],
      ],
      content: JSON.stringify({
        ...{ nonce, name: 'Té', description: '', coupon: percentBenefit, expiresAt: null },
      }),
    })
  const create = (): Foreign => {
    const [nonce, next] = [coupons.newNonce(), coupons.newNonce()]
    return { nonce, voucher: sign(nonce), replacement: sign(next), next }
  }
  const [sent, begun] = [create(), create()]
  const holder = eva.pubkey
  const binding = { service: service.pubkey, handle: handleOf(begun.nonce), holder }
  const content = { nonce: begun.nonce, voucher: begun.voucher, comment: null, key: 'one-key' }
  const sealed = sealIntent(coupons.storeKey, binding, content)
  const intent = await engine.transact({ roots: 'none' }, async (tx) => {
    for (const [name, { pubkey }] of Object.entries({ eva, fede })) {
      const uuid = crypto.randomUUID()
      const account = { uuid, name, pubkey, lud16: null, nonceId: null, createdBy: pubkey }
      await tx.accounts.insert({ ...account, createdAt: at })
    }
    const times = { nextAt: at + 30, createdAt: at }
    return tx.transfers.insertIntent({ ...binding, owner: world.owner.pubkey, sealed, ...times })
  })
  return { service: service.pubkey, sent, begun, intent } satisfies ForeignWorld
}

type Refresh = Transfers['refreshElsewhere']

export function transferOperations(
  { plain, engine }: Omit<Parts, 'metered'>,
  { service, sent, begun, intent }: ForeignWorld,
): Operations {
  const { now, coupons } = plain
  /** The wallet of one node: it shares no attempt with another one. */
  const nodeWith = (refreshElsewhere: Refresh) =>
    ({
      ...{ database: engine, now, verify: verifyEvent, couponService: coupons },
      ...{ newKey: coupons.newNonce, arriving: () => undefined, requireDisk: () => undefined },
      services: new Map([[service, 'https://other.example/api/coupons/refresh']]),
      ...{ swapping: new Map(), warn: () => undefined },
      refreshElsewhere: (...asked) => asStep(() => refreshElsewhere(...asked)),
    }) as Partial<Transfers> as Transfers
  const honest: Refresh = async (_, { nonce }) => {
    const { next, replacement } = nonce === sent.nonce ? sent : begun
    return { kind: 'answer', body: { nonce: next, voucher: replacement } }
  }
  const unsent: Refresh = async () => ({ kind: 'unsent', why: 'ECONNREFUSED' })
  const unclear: Refresh = async () => ({ kind: 'unclear', why: 'timeout' })

  const attempting = (fresh: boolean, refresh: Refresh) => async () =>
    toldOf(await swap(nodeWith(refresh), { id: intent, service, fresh }))
  const receiving = (name: string) => async () => {
    const { nonce, voucher } = sent
    const told = await receive(nodeWith(honest), name, { nonce, voucher, comment: null })
    if (told.accepted || told.refusal.code === 'transfer-pending') return 'it is theirs'
    // While the other transfer is under way, the refusal says so.
    const { code } = told.refusal
    return code === 'transfer-busy' ? new Refusal('voucher-refreshed').code : code
  }
  return {
    'receive from elsewhere': receiving('eva'),
    'receive from elsewhere for another': receiving('fede'),
    'end a first attempt that did not leave': attempting(true, unsent),
    'repeat a swap': attempting(false, honest),
    'repeat a swap without an answer': attempting(false, unclear),
    'make swaps due': () =>
      engine.transact({ roots: ['instance'] }, (tx) => tx.transfers.makeAllDue(now())),
  }
}

/** An attempt that leaves the end to others says nothing of it. */
function toldOf(swapped: Swapped) {
  return typeof swapped === 'string' ? 'no refusal' : swapped
}
