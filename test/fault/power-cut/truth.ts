import type { Lane, Step } from './client.ts'
import type { Facts } from './facts.ts'

/** All that a number of steps of a lane makes true. */
export type Truth = {
  vouchers: Map<string, string>
  /** Vouchers whose nonces no answer told: those in inboxes. */
  untold: number
  /** The coupon of each voucher. */
  couponOf: Map<string, string>
  names: Map<string, string>
  /** Events of the relay, true if they are there. */
  events: Map<string, boolean>
  /** The other facts. */
  facts: Facts
}

const truths = new WeakMap<Lane, Truth[]>()

/** The truth after so many steps of a lane. */
export function truthOf(lane: Lane, steps: number): Truth {
  let known = truths.get(lane)
  if (!known) {
    const none: Truth = {
      vouchers: new Map(),
      untold: 0,
      couponOf: new Map(),
      names: new Map(),
      events: new Map(),
      facts: new Map(),
    }
    known = [none]
    for (const step of lane.steps) known.push(after(known.at(-1) ?? none, lane, step))
    truths.set(lane, known)
  }
  const truth = known[steps]
  if (!truth) throw new RangeError('a lane has no such step')
  return truth
}

/** The truth after so many steps, and after a refused attempt at the next one that came to the disk nevertheless. */
export function doubtfulTruthOf(lane: Lane, steps: number): Truth {
  const [before, done] = [truthOf(lane, steps), truthOf(lane, steps + 1)]
  const vouchers = new Map(
    [...before.vouchers.keys()].map((nonce) => [nonce, done.vouchers.get(nonce) ?? '']),
  )
  // Its own vouchers have other nonces than those of the attempt that was answered.
  const untold = done.untold + done.vouchers.size - before.vouchers.size
  return { ...before, vouchers, untold }
}

function after(before: Truth, lane: Lane, step: Step): Truth {
  const vouchers = new Map(before.vouchers)
  let { untold } = before
  const couponOf = new Map(before.couponOf)
  const names = new Map(before.names)
  const events = new Map(before.events)
  const facts = new Map([...before.facts, ...Object.entries(step.facts)])
  const { kind, about, body } = step
  const answer = step.text === '' ? null : JSON.parse(step.text)
  const issue = (nonce: string, couponId: string) => {
    vouchers.set(nonce, 'minted')
    couponOf.set(nonce, couponId)
  }
  switch (kind) {
    case 'define':
      names.set(answer.coupon.id, answer.coupon.name)
      break
    case 'edit':
      names.set(about, JSON.parse(body).name)
      break
    case 'mint':
      for (const { nonce } of answer.vouchers ?? [answer]) issue(nonce, about)
      break
    case 'take':
      issue(answer.nonce, about)
      break
    case 'transfer':
      vouchers.set(about, 'refreshed')
      untold++
      break
    case 'claim':
      vouchers.set(about, 'claimed')
      break
    case 'refresh':
      vouchers.set(about, 'refreshed')
      issue(answer.nonce, couponOf.get(about) ?? '')
      break
    case 'void':
      vouchers.set(about, 'voided')
      break
    case 'kill':
      for (const [nonce, status] of vouchers) {
        if (status === 'minted' && couponOf.get(nonce) === about) vouchers.set(nonce, 'voided')
      }
      break
    case 'publish': {
      const { event } = step
      if (!event) break
      events.set(event.id, true)
      const [name, id = ''] = event.tags[0] ?? []
      if (event.kind === 5 && name === 'e') events.set(id, false)
      if (name !== 'd') break
      for (const other of lane.steps) {
        const older = other.event?.kind === event.kind && other.id !== event.id
        if (older && events.get(other.id) === true) events.set(other.id, false)
      }
      break
    }
    // The others change facts alone.
    default:
  }
  return { vouchers, untold, couponOf, names, events, facts }
}
