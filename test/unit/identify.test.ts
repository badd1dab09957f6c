import { expect, test } from 'bun:test'
import { Refusal } from '../../src/base/refusal.ts'
import { createCutoffs } from '../../src/session/cutoffs.ts'
import { createIdentify } from '../../src/session/identify.ts'
import { createSessions } from '../../src/session/session.ts'
import { createProof, newSigner, nostrHeader, verifyEvent } from '../support/client.ts'

const now = () => 1_800_000_000
const signer = newSigner()
const url = 'https://cupones.example/api/coupons'
const sessions = createSessions('secret', now, createCutoffs([]))
const identify = createIdentify({ sessions, verify: verifyEvent, now })

/** The signer, and each recorded use. `fresh`: the event was not used before. */
async function sign({ fresh, limited }: { fresh: boolean; limited: Refusal | null }) {
  const told: string[] = []
  const header = nostrHeader(createProof(signer, url, { createdAt: now() }))
  const signed = { method: 'GET', origins: ['https://cupones.example'], target: '/api/coupons' }
  const credential = { header, bearer: true, signed: () => ({ ...signed, body: new Uint8Array() }) }
  const caller = await identify(credential, {
    count: () => void told.push('counted'),
    countSigned() {
      told.push('signed')
      return limited
    },
    spending: () => void told.push('spending'),
    repeated: () => void told.push('repeated'),
  })
  const proofs = { use: async () => fresh, prune: async () => 0 }
  const spend = async () => {
    try {
      await caller.spend?.({ proofs, afterCommit: () => undefined, tell: () => undefined })
      return 'used'
    } catch (refused) {
      return refused instanceof Refusal ? refused.code : 'fault'
    }
  }
  return { told, spend }
}

test('a signature counts once, however often the operation that uses it up runs', async () => {
  const { told, spend } = await sign({ fresh: true, limited: null })
  expect([await spend(), await spend()]).toEqual(['used', 'used'])
  expect(told).toEqual(['spending', 'signed', 'spending'])
})

test('a signature of a limited key is used up before it is refused', async () => {
  const { told, spend } = await sign({ fresh: true, limited: new Refusal('rate-limited') })
  expect([await spend(), await spend()]).toEqual(['rate-limited', 'rate-limited'])
  expect(told).toEqual(['spending', 'signed', 'spending'])
})

test('a repeated signature does not count against its key', async () => {
  const { told, spend } = await sign({ fresh: false, limited: new Refusal('rate-limited') })
  expect(await spend()).toBe('auth-replay')
  expect(told).toEqual(['spending', 'repeated'])
})
