import { Random } from '../fuzz/random.ts'
import type { Json } from '../support/client.ts'
import type { Databases } from '../support/postgres-databases.ts'
import { kindOfComplaint } from '../support/shorten.ts'
import { awaitRows, compareEnd, patienceMs } from './compare-end.ts'
import { couponMakers } from './coupon-steps.ts'
import { pass, startClock, turnTo } from './determined.ts'
import { Difference, type Received, type Sent, startTwins, type Twins } from './twins.ts'
import { walletMakers } from './wallet-steps.ts'
import { cursorIn, type Maker, type Numbers, newest, pick, World } from './world.ts'

export type Step = { do: string; n: Numbers }
export type Script = { seed: number; steps: Step[] }

/** Steps with their weights; those without are equally likely. */
const weights: Record<string, number> = {
  ...Object.fromEntries(
    [...Object.keys(couponMakers), ...Object.keys(walletMakers)].map((one) => [one, 3]),
  ),
  define: 7,
  edit: 6,
  mint: 14,
  claim: 10,
  refresh: 10,
  list: 12,
  poster: 6,
  take: 6,
  transaction: 6,
  remove: 0.7,
  kill: 1,
  wipe: 0.7,
  scan: 6,
  pay: 6,
  transfer: 5,
  inbox: 4,
  again: 6,
  more: 6,
  pass: 8,
  stir: 3,
  restart: 0.3,
}

/** Names of steps, each as often as it weighs. Odd seeds leave out half of them, so that their lists grow long. */
function namesOf(seed: number, random: Random): string[] {
  const kept = Object.entries(weights).filter(
    ([name]) => seed % 2 === 0 || always.includes(name) || random.chance(0.5),
  )
  return kept.flatMap(([name, weight]) => Array<string>(Math.round(weight * 10)).fill(name))
}
const always = ['list', 'stir', 'session']

/** The script of a seed. */
export function scriptOf(seed: number, length: number): Script {
  const random = new Random(seed ^ 0xd1ff)
  const names = namesOf(seed, random)
  const number = () => random.below(2 ** 16)
  const steps = Array.from({ length }, (): Step => {
    return { do: random.pick(names), n: [number(), number(), number()] }
  })
  // Nothing goes without coupons, and a session is cheaper than a signature.
  const first = [0, 3].flatMap((at): Step[] => [
    { do: 'session', n: [at, 0, 1] },
    { do: 'define', n: [at, 1, 1] },
    { do: 'invite', n: [0, 1, at] },
    { do: 'identify', n: [1, at / 3, 1] },
  ])
  return { seed, steps: [...first, ...steps] }
}

/** The settings of a seed: any merchant, those of a list, or those that have the code. */
function settingsOf(seed: number, { people, manager }: World): Record<string, string> {
  const merchants = people.slice(0, 2).map(({ pubkey }) => pubkey)
  return {
    ...{ COUPON_MANAGER_NSEC: '7'.repeat(64), STORE_KEY: '5'.repeat(64), RATE_LIMIT: 'off' },
    ...{ SESSION_JWT_SECRET: 's'.repeat(40), CARD_MASTER_KEY: '000102030405060708090a0b0c0d0e0f' },
    ...{ TOKENS: `PESO:2:${manager.pubkey},BTC:0:${manager.pubkey}`, DISK_FLOOR: '0' },
    ...{ FEDERATION_ID: 'localhost', GATEWAY_PUBKEY: people[3]?.pubkey ?? '' },
    ...pick([{ MERCHANTS: 'open' }, { MERCHANTS: merchants.join() }, {}], seed),
    ...(seed % 2 === 0 && { DEFAULT_LIMITS: 'Por día;Lo de un día;PESO;700;86400' }),
    ...(seed % 5 === 0 && { IDENTITY_SELF_SIGNUP: 'on' }),
  }
}

/** Run a script on both engines. Throws a Difference at the first answer, or row in the end, that is not the same. */
export async function run(databases: Databases, { seed, steps }: Script): Promise<number> {
  startClock()
  const world = new World()
  const twins = await startTwins(databases, settingsOf(seed, world))
  let asked = 0
  try {
    await letIn(twins, world)
    for (const [at, step] of steps.entries()) {
      turnTo(`${seed} ${at}`)
      if (await take(twins, world, step, `${seed} ${at}`)) asked++
      const [fault] = twins.faults
      if (fault !== undefined) throw new Difference(`${step.do}: ${fault}`, kindOfComplaint(fault))
    }
    await twins.rest()
    await awaitRows(twins)
    await twins.stop()
    await compareEnd(twins)
  } finally {
    await twins.stop().catch(() => undefined)
    await twins.end()
  }
  return asked
}

/** The first person becomes the owner of a service that lets merchants in by its code. */
async function letIn(twins: Twins, world: World): Promise<void> {
  const codes = await Promise.all(twins.each.map(async ({ app }) => (await app.management())?.code))
  const [code] = codes
  if (typeof code !== 'string') return
  turnTo('setup')
  const by = world.person(0)
  await both(twins, 'setup', (_) =>
    world.send({ method: 'POST', path: '/api/setup', body: { code }, by }, [0, 0, 1]),
  )
}

/** True if it was a request. */
async function take(
  twins: Twins,
  world: World,
  { do: name, n }: Step,
  turn: string,
): Promise<boolean> {
  const [a, b] = n
  if (name === 'pass') {
    // A delivery that waits would expire at one of them.
    await twins.rest()
    pass(pick([1, 1, 5, 61, 3600, 86_400], a))
    await twins.tell()
  } else if (name === 'restart') await twins.restart()
  else if (name === 'stir') await twins.stir(a)
  else if (name === 'again') {
    const before = world.again(a)
    if (before) await both(twins, turn, () => before.sent, before.eventual)
    await twins.tell()
    return before !== null
  } else if (name === 'more') {
    const page = newest(world.pages, a)
    if (!page) return false
    const { path, by, cursors } = page
    const join = path.includes('?') ? '&' : '?'
    const asking = (at: number) => {
      return { method: 'GET', path: `${path}${join}cursor=${cursors[at]}`, by }
    }
    turnTo(turn)
    const sent = [0, 1].map((at) => world.sign(asking(at))) as [Sent, Sent]
    world.turned(path, by, await both(twins, turn, (at) => sent[at]))
    return true
  } else {
    const maker: Maker | undefined = couponMakers[name] ?? walletMakers[name]
    if (!maker) throw new Difference(`there is no step ${name}`)
    const asking = maker(world, n)
    if (!asking) return false
    const sent = world.send(asking, n)
    const answers = await both(twins, turn, () => sent, asking.eventual)
    if (maker === walletMakers[name]) await twins.tell()
    const [{ body, status }] = answers
    const json = jsonOf(body)
    world.learn(json)
    if (status === 401 && asking.by) world.sessions.delete(asking.by.pubkey)
    if (json && typeof json === 'object') asking.learn?.(json, status)
    if (asking.by) world.turned(sent.path, asking.by, answers)
    return true
  }
  return b < 0
}

function jsonOf(text: string): Json {
  try {
    return JSON.parse(text)
  } catch {
    return text === '' ? {} : undefined
  }
}

/** Ask both services, and compare the answers. */
async function both(
  twins: Twins,
  turn: string,
  sentTo: (at: 0 | 1) => Sent,
  eventual = false,
): Promise<[Received, Received]> {
  const [first, second] = twins.each
  const until = performance.now() + patienceMs
  for (;;) {
    turnTo(turn)
    const one = await twins.ask(first, sentTo(0))
    turnTo(turn)
    const two = await twins.ask(second, sentTo(1))
    const difference = differing(one, two)
    if (difference === null) return [one, two]
    if (!eventual || performance.now() > until) {
      throw new Difference(`${describe(sentTo(0))}\n${difference}`, kindOf(sentTo(0), one, two))
    }
    await Bun.sleep(50)
  }
}

/** The difference, or null. A cursor is a row's number in one database, so that only its presence counts. */
function differing(one: Received, two: Received): string | null {
  const [shown, other] = [one, two].map((answer) => {
    const next = cursorIn(answer.body)
    const body =
      typeof next === 'string' ? answer.body.replace(JSON.stringify(next), '"…"') : answer.body
    return JSON.stringify({ ...answer, body })
  })
  return shown === other ? null : `embedded:   ${shown}\nPostgreSQL: ${other}`
}

/** The route, and the status and code of both answers. */
function kindOf({ method, path }: Sent, ...answers: Received[]): string {
  const [route = ''] = path.split('?')
  const told = answers.map(({ status, body }) => `${status} ${jsonOf(body)?.code ?? ''}`.trim())
  return `${kindOfComplaint(`${method} ${route}`)}: ${told.join(' and ')}`
}

function describe({ method, path, headers, body }: Sent): string {
  const { Authorization, ...rest } = headers
  const who = Authorization?.split(' ')[0] ?? ''
  return `${method} ${path} ${who} ${JSON.stringify(rest)} ${String(body).slice(0, 600)}`
}
