/** Whether a thread checks signatures. */
import { afterEach, expect, test } from 'bun:test'
import { availableParallelism } from 'node:os'
import { openSignatures } from '../../src/app/signatures.ts'
import { openSchnorr } from '../../src/crypto/schnorr.ts'
import { createEvent } from '../support/events.ts'
import { until } from '../support/until.ts'

const schnorr = openSchnorr()
const event = createEvent()
const stops: (() => void)[] = []
afterEach(() => {
  for (const stop of stops.splice(0)) stop()
})

/** Answers of many checks at once: true where one came at once, in this thread. */
async function check(engine: typeof schnorr, sharedCommits: boolean) {
  const nothing = () => undefined
  const log = { debug: nothing, info: nothing, warn: nothing, error: nothing }
  const secret = new Uint8Array(32).fill(3)
  const { verifySoon, stop } = openSignatures(engine, secret, { log, sharedCommits })
  stops.push(stop)
  return async () => {
    const answers = Array.from({ length: 64 }, () => verifySoon(event))
    expect(await Promise.all(answers)).toEqual(answers.map(() => true))
    return answers.every((answer) => answer === true)
  }
}

test('a thread helps where operations share commits, with the fast engine and a processor for it', async () => {
  const able = schnorr.name === 'libsecp256k1' && availableParallelism() > 1
  const atOnce = await check(schnorr, true)
  await until('a check elsewhere', async () => (await atOnce()) !== able)
})

test.each([
  ['where they do not', schnorr, false],
  ['in JavaScript', { ...schnorr, name: 'noble' } as const, true],
])('none helps %s', async (_, engine, sharedCommits) => {
  const atOnce = await check(engine, sharedCommits)
  for (let times = 0; times < 20; times++) {
    expect(await atOnce()).toBe(true)
    await Bun.sleep(5)
  }
})
