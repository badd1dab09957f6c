import { sentenceOf } from '../../src/base/refusal.ts'
import { preview } from '../../src/coupons/preview.ts'
import { refresh } from '../../src/coupons/refresh.ts'
import { publish } from '../../src/gateway/publish.ts'
import type { NostrEvent } from '../../src/nostr/event.ts'
import { activate } from '../../src/wallet/cards/holders/activate.ts'
import { payExtended } from '../../src/wallet/cards/payments/pay.ts'
import { operateCards } from '../../src/wallet/cards/tags/operator.ts'
import { scan } from '../../src/wallet/cards/taps/scan.ts'
import { payRequest } from '../../src/wallet/identities/pay-request.ts'
import { receive } from '../../src/wallet/transfers/receive.ts'
import { send } from '../../src/wallet/transfers/send.ts'
import { cardEvent, delegationOf, manager, tapQuery } from '../support/cards.ts'
import { createStart } from '../support/ledger.ts'
import { payEvent } from '../support/payments.ts'
import { answerOf, type Json, refused, same } from './coupon-model.ts'
import { type Machine, people } from './machine.ts'
import type { Arrived } from './network.ts'
import type { Service } from './service.ts'
import { type Maker, pick, type Request, someVoucher } from './steps.ts'
import { judgeMove, judgeNotTaken } from './transfer-model.ts'

export const walletMakers: Record<string, Maker> = {
  /** Send a voucher of this service or of the other one to somebody's name at either of them. */
  send({ machine, machines }, [a, b, c]) {
    const from = b % 3 ? machine : pick(machines, a)
    const voucher = someVoucher(from.coupons, a)
    if (!voucher) return null
    const { nonce, event } = voucher
    const person = pick(people, b)
    const target = pick(machines, c)
    const to = `${person.name}@${new URL(target.base).host}`
    if (!event) return null
    const given = from === machine && c % 2 ? undefined : event
    const asked = { nonce, voucher: given, to, comment: undefined, sender: 'somewhere' }
    const hosts = [new URL(machine.base).host]
    return {
      words: `send ${voucher.handle} to ${to}`,
      run: ({ transfers }) => send(transfers, asked, hosts),
      judge: judgeMove(machine, nonce),
      answered(answer) {
        const { status, code } = answer as Json
        if (status === 'SENT')
          target.take({ service: from.signer.pubkey, nonce, holder: person.pubkey })
        else if (status === 'MOVED') same('the phase of what moved', voucher.phase, 'refreshed')
        else
          judgeNotTaken(code, voucher, {
            machines,
            elsewhere: from !== target || target !== machine,
          })
      },
    }
  },

  /** A transaction of tokens, published at this service or at a relay. */
  transaction({ machine, machines, serial }, [a, b, c], now) {
    const ledger = machines[0] as Machine
    const sender = b % 3 ? pick([...people, manager], a) : manager
    const event = createStart({
      ledger: manager.pubkey,
      from: sender,
      to: pick(people, b).pubkey,
      tokens: { [pick(['ARS', 'ARS', 'BTC'], c)]: pick([10, 50, 200, 1, 0], c) },
      memo: String(serial()),
      createdAt: now,
    })
    ledger.ledger.know(event)
    return {
      words: `publish a transaction ${event.content}`,
      run: ({ gateway }) =>
        publish(gateway, event, { address: 'somewhere', bytes: 300, asked: null }),
      judge: (outcome) => {
        answerOf(outcome)
        machine.promised.set(event.id, event)
      },
      answered: () => undefined,
    }
  },

  card({ machine, serial }, [a], now) {
    const holder = pick(people, a)
    const uid = `04${serial().toString(16).padStart(12, '0')}`
    const conditions = `kind=1112&created_at>${now - 86_400}&created_at<${now + 864_000}`
    return {
      words: `make a card for ${holder.name}`,
      async run({ wallet }) {
        const { otc } = (await operateCards(wallet.cards, {
          do: 'init',
          tag: { cid: uid },
        })) as Json
        const content = { otc, delegation: delegationOf(holder, conditions) }
        const createdAt = wallet.cards.now()
        const event = cardEvent('card-activation-request', content, { signer: holder, createdAt })
        return activate(wallet.cards, event, 'somewhere')
      },
      judge: () => undefined,
      answered: () => {
        const { cards } = machine.cards
        if (!cards.some((one) => one.uid === uid)) {
          cards.push({ uid, holder: holder.pubkey, counter: 0, spent: [] })
        }
      },
      // Its code was used, perhaps by a request whose answer got lost.
      early: (code) => code === 'card-content-invalid' && machine.hasCard(uid),
    }
  },

  tap({ machine }, [a, b]) {
    const { cards } = machine.cards
    if (cards.length === 0) return null
    const card = pick(cards, a)
    const counter = card.counter + pick([1, 1, 1, 2, 0], b)
    const query = new URLSearchParams(tapQuery(card.uid, counter))
    const tap = { p: query.get('p'), c: query.get('c'), base: machine.base }
    const asked = { action: 'extendedScan', param: 'federationId=localhost, tokens=ARS' }
    return {
      words: `tap a card, ${counter}`,
      run: ({ wallet }) => scan(wallet.cards, { ...tap, ...asked }),
      judge: (outcome, now) => machine.cards.tap(card, counter, outcome, now),
    }
  },

  pay({ machine }, [a, b, c], now) {
    const { scans } = machine.cards
    if (scans.length === 0) return null
    const scanned = pick(scans.slice(-4), a)
    const amount = pick([5, 40, 90, 150], b)
    const shop = pick(people, c)
    const tokens = { ARS: amount }
    const event = payEvent({ k1: scanned.k1, npub: shop.pubkey, tokens }, { createdAt: now })
    return {
      words: `pay ${amount} with a card`,
      run: ({ wallet }) => payExtended(wallet.payments, event),
      early: (code, at) => code === 'card-event-stale' && Math.abs(at - now) > 180,
      judge: (outcome, at) =>
        machine.cards.pay(
          { scan: scanned, amount, request: event.id, to: shop.pubkey },
          outcome,
          at,
        ),
    }
  },
}

/** The request that arrives from another service, and how its answer looks on the wire. */
export function requestOf(
  machine: Machine,
  machines: readonly Machine[],
  { path, json, key }: Arrived,
): { request: Request; answer: (value: unknown) => unknown } {
  const nonce = String(json.nonce)
  const voucher = machine.coupons.find(nonce)
  if (path.endsWith('/refresh')) {
    const request: Request = {
      words: `a service refreshes ${voucher?.handle}`,
      run: ({ coupons }) => refresh(coupons, { nonce, key }),
      judge: (outcome, now) =>
        voucher
          ? machine.coupons.refresh(voucher, key, outcome, now)
          : void refused(outcome, 'voucher-unknown'),
    }
    return { request, answer: (value) => (value as { body: string }).body }
  }
  if (path.endsWith('/preview')) {
    const run = ({ coupons }: Service) => preview(coupons, nonce)
    const judge = () => undefined
    return {
      request: { words: 'a service asks', reads: true, run, judge },
      answer: (value) => value,
    }
  }
  const named = /lnurlp\/(\w+)$/.exec(path)?.[1]
  if (named !== undefined) {
    const run = ({ wallet }: Service) => payRequest(wallet.identities, named, machine.base)
    const judge = () => undefined
    return {
      request: { words: `who is ${named}`, reads: true, run, judge },
      answer: (value) => value,
    }
  }
  const name = /lud16\/(\w+)\/cb$/.exec(path)?.[1] ?? ''
  const event = json.voucher as NostrEvent
  const holder = people.find((one) => one.name === name)?.pubkey ?? ''
  const request: Request = {
    words: `a voucher comes for ${name}`,
    run: ({ transfers }) => receive(transfers, name, { nonce, voucher: event, comment: null }),
    judge: judgeMove(machine, nonce),
    answered(answer) {
      const reception = answer as Awaited<ReturnType<typeof receive>>
      if (reception.accepted) return machine.take({ service: event.pubkey, nonce, holder })
      const from = machines.find(({ signer }) => signer.pubkey === event.pubkey)
      const given = from?.coupons.find(nonce)
      judgeNotTaken(reception.refusal.code, given, { machines, elsewhere: from !== machine })
    },
  }
  const answer = (value: unknown) => {
    const reception = value as Awaited<ReturnType<typeof receive>>
    if (reception.accepted) return { status: 'ACCEPTED' }
    const { refusal } = reception
    return { status: 'ERROR', reason: sentenceOf(refusal), code: refusal.code }
  }
  return { request, answer }
}
