import { createHash } from 'node:crypto'
import { call, newSigner } from '../../support/client.ts'
import { createEvent } from '../../support/events.ts'
import type { FaultyRelay } from '../../support/faulty-relay.ts'
import { until } from '../../support/until.ts'
import type { Lane, Step } from './client.ts'

type Asked = {
  lane: Lane
  /** The steps that were done. */
  steps: readonly Step[]
  /** The relay that the service delivers to. */
  elsewhere: FaultyRelay
  /** How often each event was sent there before the service started. */
  before: ReadonlyMap<string, number>
}

type Ask = (base: string, lane: Lane, step: Step) => Promise<string | null>

/** Send steps again to a service that came up, or ask for their outcome. The broken promises. */
export async function ask(
  base: string,
  { lane, steps, elsewhere, before }: Asked,
): Promise<string[]> {
  const problems: string[] = []
  for (const step of steps) {
    const problem = await asks[step.kind]?.(base, lane, step)
    if (problem) problems.push(`a ${step.kind} comes to ${problem}`)
  }
  return [...problems, ...(await askOutbox(base, steps, elsewhere, before))]
}

const asks: Partial<Record<Step['kind'], Ask>> = {
  async take(base, { signer }, { path, key, text }) {
    const headers = { 'Idempotency-Key': key ?? '' }
    const again = await call(base, path, { method: 'POST', headers, signer })
    return again.text === text ? null : again.text
  },
  async upload(base, _, { text }) {
    const { hash } = JSON.parse(text).picture
    const answer = await fetch(`${base}/api/pictures/${hash}`)
    const found = createHash('sha256')
      .update(await answer.bytes())
      .digest('hex')
    return found === hash ? null : `${answer.status} with other bytes`
  },
  async end(base, _, { about: token }) {
    const { status } = await call(base, '/api/coupons', { token })
    return status === 401 ? null : `a session that is open (${status})`
  },
  async register(base, _, { about: name, facts }) {
    const { json } = await call(base, `/.well-known/nostr.json?name=${name}`)
    return json.names[name] === facts[`name ${name}`] ? null : JSON.stringify(json)
  },
  async tap(base, _, { path }) {
    const headers = { 'X-LaWallet-Action': 'extendedScan' }
    const { status, text } = await call(base, path, { headers })
    return status >= 400 && status < 500 ? null : `a second k1: ${text}`
  },
  async pay(base, _, { about: k1 }) {
    const { json } = await call(base, `/card/pay/${k1}`)
    return json.state === 'settled' ? null : JSON.stringify(json)
  },
  async transfer(base, _, { path, body }) {
    // The name is at the address of the service that was recorded.
    const { nonce, to } = JSON.parse(body)
    const here = `${to.split('@')[0]}@${new URL(base).host}`
    const { json } = await call(base, path, { body: { nonce, to: here } })
    return json.status === 'SENT' ? null : JSON.stringify(json)
  },
}

/** Each event comes to the relay. One of which an answer said so is not sent again. */
async function askOutbox(
  base: string,
  steps: readonly Step[],
  elsewhere: FaultyRelay,
  before: ReadonlyMap<string, number>,
): Promise<string[]> {
  const idsOf = (wanted: Step['kind']) =>
    steps.flatMap(({ kind, facts }) =>
      kind === wanted ? Object.keys(facts).map((name) => name.slice('event '.length)) : [],
    )
  const confirmed = new Set(idsOf('confirm'))
  const last = createEvent({ signer: newSigner() })
  await call(base, '/nostr/publish', { body: last })
  for (const id of [...idsOf('send').filter((id) => !confirmed.has(id)), last.id]) {
    await until(`an event of the outbox is delivered: ${id}`, async () => {
      return (await call(base, `/nostr/publish/${id}`)).json.status === 'delivered'
    })
  }
  return [...confirmed].flatMap((id) =>
    elsewhere.times(id) > (before.get(id) ?? 0) ? ['a delivered event is sent again'] : [],
  )
}
