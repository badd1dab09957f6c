import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { limits } from '../../../src/base/limits.ts'
import type { Random } from '../../fuzz/random.ts'
import type { Lane, Step } from './client.ts'
import { type Facts, factProblems } from './facts.ts'
import type { Life } from './life.ts'
import type { Held, Known, World } from './moments.ts'
import { haveOneMoment, type Span, spanOf } from './spans.ts'
import { doubtfulTruthOf, type Truth, truthOf } from './truth.ts'

/** A service that came up on a state, as its clients see it. */
export type Service = {
  dataDir: string
  /** The state of each voucher; `unknown` for one that does not exist. */
  statuses(nonces: readonly string[]): Promise<Map<string, string>>
  /** The names of a lane's coupons, by id. */
  names(lane: Lane): Promise<Map<string, string>>
  /** The facts with these names. */
  facts(names: Iterable<string>): Facts
  /** The broken promises that only requests can show. */
  ask?(lane: Lane, steps: readonly Step[], life: Life): Promise<string[]>
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

/** Vouchers of each lane that a judge spends. */
const spentOfLane = 2
/** A service accepts a signature for so long after its time, and forgets it as long after that at the earliest. */
const rememberedSeconds = 2 * limits.proofWindowSeconds

/** `time`: of the cut, in Unix seconds. */
export type Judging = { life: Life; random: Random; time: number; tally: Tally }

/** Vouchers that were spent after a cut, and signatures that had to be used up. */
export type Tally = { claimed: number; signatures: number }

/** The broken promises of a service that came up after a power cut. */
export async function judge(service: Service, known: Known, judging: Judging): Promise<string[]> {
  const problems: string[] = []
  if (known.answered) {
    for (const [name, text] of Object.entries(judging.life.keys)) {
      const there = readFileSync(join(service.dataDir, 'keys', name), 'utf8')
      if (there !== text) problems.push(`the key file ${name} has another content`)
    }
  }
  if (service.clean === true && !known.mayBeClean) problems.push('it takes the file for closed')
  problems.push(
    ...(await judgeWorlds(service, judging, known.coupons, known.relay, known.together)),
  )
  problems.push(...(await service.check()))
  return problems
}

/** Compare both databases with the worlds that each may be in. `together`: that of the relay is in the one of the coupons. */
export async function judgeWorlds(
  service: Service,
  judging: Judging,
  coupons: readonly World[],
  relay: readonly World[],
  together = false,
): Promise<string[]> {
  const { life } = judging
  const lanes = [...(coupons[0]?.keys() ?? [])]
  const found = new Map<Lane, Found>()
  for (const lane of lanes) found.set(lane, await findState(service, lane))
  const held = bestOf(life, coupons, (...state) => couponProblems(found.get(state[0]), ...state))
  const events = bestOf(life, together ? held.worlds : relay, (lane, { steps }) =>
    eventProblems(found.get(lane), lane, steps),
  )
  const asked = [...held.stands].map(async ([lane, stand]) => {
    const { steps } = stand
    const problems = await repeatProblems(service, lane, stand, judging)
    const more = (await service.ask?.(lane, lane.steps.slice(0, steps), life)) ?? []
    // The repeats must have changed nothing.
    const there = service.facts(truthOf(lane, lane.steps.length).facts.keys())
    const changed = factsProblems(there, lane, stand)
    return [...problems, ...more, ...changed.map((problem) => `afterwards: ${problem}`)]
  })
  const problems = [...held.problems, ...events.problems, ...(await Promise.all(asked)).flat()]
  if (problems.length > 0) return problems
  return [...countProblems(service, held), ...(await spendProblems(service, held, judging))]
}

/** A voucher that no answer told may come from the step on the way alone, or from a refused attempt at it. */
function countProblems(service: Service, { stands }: Best): string[] {
  let possible = new Set([0])
  for (const [lane, stand] of stands) {
    const attempted = stand.steps === stand.told && (lane.steps[stand.told]?.refused ?? 0) > 0
    const doubts = attempted ? [false, true] : [stand.doubt]
    const counts = doubts.map((doubt) => {
      const { vouchers, untold } = truthIn(lane, { ...stand, doubt })
      return vouchers.size + untold
    })
    possible = new Set([...possible].flatMap((sum) => counts.map((count) => sum + count)))
  }
  const there = Number(service.facts(['vouchers']).get('vouchers'))
  return possible.has(there)
    ? []
    : [`there are ${there} vouchers, not ${[...possible].join(' or ')}`]
}

/** Spend some of the vouchers that are open: each can be spent, once. */
async function spendProblems(
  service: Service,
  { stands }: Best,
  { random, tally }: Judging,
): Promise<string[]> {
  const problems: string[] = []
  for (const [lane, stand] of stands) {
    const { vouchers } = truthIn(lane, stand)
    const open = [...vouchers].flatMap(([nonce, status]) => (status === 'minted' ? [nonce] : []))
    for (let count = 0; count < spentOfLane && open.length > 0; count++) {
      const [nonce = ''] = open.splice(random.below(open.length), 1)
      problems.push(...(await spendOne(service, lane, nonce)))
      tally.claimed++
    }
  }
  return problems
}

async function spendOne(service: Service, lane: Lane, nonce: string): Promise<string[]> {
  const spend = (kind: 'claim' | 'refresh') =>
    service.repeat(lane, {
      ...{ id: '', kind, method: 'POST', path: `/api/coupons/${kind}`, about: nonce, proof: null },
      ...{ body: JSON.stringify({ nonce }), status: 200, text: '', facts: {}, refused: 0 },
      key: kind === 'refresh' ? `llave-${crypto.randomUUID()}` : null,
    })
  const first = await spend('claim')
  if (first.status !== 200) return [`an open voucher cannot be spent: ${first.text}`]
  const [again, burned] = [await spend('claim'), await spend('refresh')]
  const statuses = await service.statuses([nonce])
  const once = again.status === 200 && sameClaim(first.text, again.text) && burned.status >= 400
  return once && statuses.get(nonce) === 'claimed' ? [] : ['a voucher is spent twice']
}

type Found = {
  statuses: Map<string, string>
  names: Map<string, string>
  events: Set<string>
  facts: Facts
}

async function findState(service: Service, lane: Lane): Promise<Found> {
  const all = truthOf(lane, lane.steps.length)
  return {
    statuses: await service.statuses([...all.vouchers.keys()]),
    names: await service.names(lane),
    events: await service.present(lane, [...all.events.keys()]),
    facts: service.facts(all.facts.keys()),
  }
}

/** The steps of a lane that a state holds. `told`: those that must be there. `doubt`: and a refused attempt at the next one. */
type Stand = { told: number; steps: number; doubt: boolean; settledAgain: boolean }
type Compare = (lane: Lane, stand: Stand) => string[]
/** `worlds`: those that fit as well as it does. */
type Best = { problems: string[]; stands: Map<Lane, Stand>; worlds: World[] }

function* standsOf(lane: Lane, { least, most, settledAgain = false }: Held): Generator<Stand> {
  const stand = { told: least, steps: least, doubt: false, settledAgain }
  for (let steps = least; steps <= most; steps++) yield { ...stand, steps }
  if (lane.steps[least]?.refused) yield { ...stand, doubt: true }
}

function truthIn(lane: Lane, { steps, doubt }: Stand): Truth {
  return doubt ? doubtfulTruthOf(lane, steps) : truthOf(lane, steps)
}

/** The world that fits best: its problems, and the number of steps that each lane has there. All are of one moment. */
function bestOf(life: Life, worlds: readonly World[], compare: Compare): Best {
  const fits = worlds.map((world) => {
    const problems: string[] = []
    const stands: Best['stands'] = new Map()
    const spans = new Map<Lane[], Span[][]>(
      [life.lanes.before, life.lanes.after].map((lanes) => [lanes, []]),
    )
    for (const [lane, range] of world) {
      let best: string[] | null = null
      // A step that changes nothing that can be seen may not have happened.
      const fitting: Span[] = []
      for (const stand of standsOf(lane, range)) {
        const found = compare(lane, stand)
        if (found.length === 0) fitting.push(spanOf(life, lane, stand.steps))
        else if (best?.length === 0) break
        if (best !== null && found.length >= best.length) continue
        best = found
        stands.set(lane, stand)
      }
      problems.push(...(best ?? []))
      spans
        .get(life.lanes.after.includes(lane) ? life.lanes.after : life.lanes.before)
        ?.push(fitting)
    }
    // The lanes from before a restore are of an older moment than those after it.
    if (problems.length === 0 && ![...spans.values()].every(haveOneMoment)) {
      problems.push('the clients are of different moments')
    }
    return { problems, stands, world }
  })
  const [best] = fits.sort((one, other) => one.problems.length - other.problems.length)
  if (!best) return { problems: [], stands: new Map(), worlds: [] }
  const equal = fits.filter(({ problems }) => problems.length === best.problems.length)
  return { ...best, worlds: equal.map(({ world }) => world) }
}

function couponProblems(found: Found | undefined, lane: Lane, stand: Stand): string[] {
  const truth = truthIn(lane, stand)
  const problems: string[] = []
  for (const [nonce, status] of found?.statuses ?? []) {
    const told = truth.vouchers.get(nonce) ?? 'unknown'
    if (status !== told) problems.push(`a voucher that was ${told} is ${status}`)
  }
  for (const [id, name] of truth.names) {
    const there = found?.names.get(id)
    if (there !== name) problems.push(`a coupon that was ${name} is ${there ?? 'missing'}`)
  }
  return [...problems, ...factsProblems(found?.facts ?? new Map(), lane, stand)]
}

/** Facts that so many steps of a lane decide, and those that only later ones do. */
function factsProblems(there: Facts, lane: Lane, { steps, settledAgain }: Stand): string[] {
  const told = truthOf(lane, steps).facts
  return [...truthOf(lane, lane.steps.length).facts.keys()].flatMap((name) => {
    const problems = factProblems([name], told, there)
    if (problems.length === 0 || !settledAgain || !/^(balance|movement) /.test(name))
      return problems
    // The ledger may have settled some of the transactions from after the backup again, in their order.
    for (let later = steps + 1; later <= lane.steps.length; later++) {
      if (factProblems([name], truthOf(lane, later).facts, there).length === 0) return []
    }
    return problems
  })
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

async function repeatProblems(
  service: Service,
  lane: Lane,
  { told, steps }: Stand,
  { time, tally }: Judging,
): Promise<string[]> {
  const spent = await service.spent()
  const repeats = lane.steps.slice(0, steps).map(async (step, at) => {
    const problems: string[] = []
    // It may be there from another attempt than the one that was answered later.
    if (at >= told && step.refused > 0) return problems
    if (spent && step.proof !== null && time < step.proof.created_at + rememberedSeconds) {
      tally.signatures++
      if (!spent.has(step.proof.id)) problems.push(`the signature of a ${step.kind} is not used up`)
    }
    if ((step.key === null && step.kind !== 'claim') || step.kind === 'take') return problems
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
