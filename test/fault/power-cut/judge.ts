import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Lane, Step } from './client.ts'
import type { Life } from './life.ts'
import type { Known, World } from './moments.ts'

/** A service that came up on a state, as its clients see it. */
export type Service = {
  dataDir: string
  /** The state of each voucher; `unknown` for one that does not exist. */
  statuses(nonces: readonly string[]): Promise<Map<string, string>>
  /** The names of a lane's coupons, by id. */
  names(lane: Lane): Promise<Map<string, string>>
  /** The events of the relay among these. */
  present(lane: Lane, ids: readonly string[]): Promise<Set<string>>
  /** Send a step again. */
  repeat(lane: Lane, step: Step): Promise<{ status: number; text: string }>
  /** The NIP-98 events that were used. Null: it cannot be asked. */
  spent(): Promise<Set<string> | null>
  /** True if the database says that it was closed properly. Null: it cannot be asked. */
  clean: boolean | null
  /** The problems that the program's own check finds. */
  check(): Promise<string[]>
  close(): Promise<void>
}

/** All that a number of steps of a lane makes true. */
type Truth = {
  vouchers: Map<string, string>
  /** The coupon of each voucher. */
  couponOf: Map<string, string>
  names: Map<string, string>
  /** Events of the relay, true if they are there. */
  events: Map<string, boolean>
}

/** The broken promises of a service that came up after a power cut. */
export async function judge(service: Service, known: Known, life: Life): Promise<string[]> {
  const problems: string[] = []
  if (known.answered) {
    for (const [name, text] of Object.entries(life.keys)) {
      const there = readFileSync(join(service.dataDir, 'keys', name), 'utf8')
      if (there !== text) problems.push(`the key file ${name} has another content`)
    }
  }
  if (service.clean === true && !known.mayBeClean) problems.push('it takes the file for closed')
  problems.push(...(await judgeWorlds(service, known.coupons, known.relay)))
  problems.push(...(await service.check()))
  return problems
}

/** Compare both databases with the worlds that each may be in. */
export async function judgeWorlds(
  service: Service,
  coupons: readonly World[],
  relay: readonly World[],
): Promise<string[]> {
  const lanes = [...(coupons[0]?.keys() ?? [])]
  const found = new Map<Lane, Found>()
  for (const lane of lanes) found.set(lane, await findState(service, lane))
  const held = bestOf(coupons, (lane, steps) => couponProblems(found.get(lane), lane, steps))
  const events = bestOf(relay, (lane, steps) => eventProblems(found.get(lane), lane, steps))
  const repeats = [...held.steps].map(([lane, steps]) => repeatProblems(service, lane, steps))
  return [...held.problems, ...events.problems, ...(await Promise.all(repeats)).flat()]
}

type Found = {
  statuses: Map<string, string>
  names: Map<string, string>
  events: Set<string>
}

async function findState(service: Service, lane: Lane): Promise<Found> {
  const all = truthOf(lane, lane.steps.length)
  return {
    statuses: await service.statuses([...all.vouchers.keys()]),
    names: await service.names(lane),
    events: await service.present(lane, [...all.events.keys()]),
  }
}

type Compare = (lane: Lane, steps: number) => string[]

/** The world that fits best: its problems, and the number of steps that each lane has there. */
function bestOf(worlds: readonly World[], compare: Compare) {
  const fits = worlds.map((world) => {
    const problems: string[] = []
    const steps = new Map<Lane, number>()
    for (const [lane, { least, most }] of world) {
      let best: string[] | null = null
      // A step that changes nothing that can be seen may not have happened.
      for (let count = least; count <= most && best?.length !== 0; count++) {
        const found = compare(lane, count)
        if (best !== null && found.length >= best.length) continue
        best = found
        steps.set(lane, count)
      }
      problems.push(...(best ?? []))
    }
    return { problems, steps }
  })
  const [best] = fits.sort((one, other) => one.problems.length - other.problems.length)
  return best ?? { problems: [], steps: new Map<Lane, number>() }
}

function couponProblems(found: Found | undefined, lane: Lane, steps: number): string[] {
  const truth = truthOf(lane, steps)
  const problems: string[] = []
  for (const [nonce, status] of found?.statuses ?? []) {
    const told = truth.vouchers.get(nonce) ?? 'unknown'
    if (status !== told) problems.push(`a voucher that was ${told} is ${status}`)
  }
  for (const [id, name] of truth.names) {
    const there = found?.names.get(id)
    if (there !== name) problems.push(`a coupon that was ${name} is ${there ?? 'missing'}`)
  }
  return problems
}

function eventProblems(found: Found | undefined, lane: Lane, steps: number): string[] {
  const { events } = truthOf(lane, steps)
  const all = truthOf(lane, lane.steps.length).events
  return [...all.keys()].flatMap((id) => {
    const told = events.get(id) ?? false
    const there = found?.events.has(id) ?? false
    if (told === there) return []
    return [
      `an event that was ${told ? 'accepted' : 'not there'} is ${there ? 'there' : 'missing'}`,
    ]
  })
}

async function repeatProblems(service: Service, lane: Lane, steps: number): Promise<string[]> {
  const spent = await service.spent()
  const repeats = lane.steps.slice(0, steps).map(async (step) => {
    const problems: string[] = []
    if (spent && step.proof !== null && !spent.has(step.proof)) {
      problems.push(`the signature of a ${step.kind} is not used up`)
    }
    if (step.key === null && step.kind !== 'claim') return problems
    const again = await service.repeat(lane, step)
    const status = step.kind === 'refresh' ? 200 : step.status
    if (again.status !== status) problems.push(`a ${step.kind} is repeated with ${again.status}`)
    else if (step.key !== null) {
      if (again.text !== step.text) problems.push(`a ${step.kind} is not repeated byte for byte`)
    } else if (!sameClaim(step.text, again.text)) problems.push('a claim has become another one')
    return problems
  })
  return (await Promise.all(repeats)).flat()
}

function sameClaim(first: string, second: string): boolean {
  const [one, other] = [JSON.parse(first), JSON.parse(second)]
  return one.claimedAt === other.claimedAt && one.voucher.id === other.voucher.id
}

const truths = new WeakMap<Lane, Truth[]>()

/** The truth after so many steps of a lane. */
function truthOf(lane: Lane, steps: number): Truth {
  let known = truths.get(lane)
  if (!known) {
    const none: Truth = {
      vouchers: new Map(),
      couponOf: new Map(),
      names: new Map(),
      events: new Map(),
    }
    known = [none]
    for (const step of lane.steps) known.push(after(known.at(-1) ?? none, lane, step))
    truths.set(lane, known)
  }
  const truth = known[steps]
  if (!truth) throw new RangeError('a lane has no such step')
  return truth
}

function after(before: Truth, lane: Lane, step: Step): Truth {
  const vouchers = new Map(before.vouchers)
  const couponOf = new Map(before.couponOf)
  const names = new Map(before.names)
  const events = new Map(before.events)
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
  }
  return { vouchers, couponOf, names, events }
}
