/** Signatures of strangers while a thread checks them: no request goes on before its check has answered. */
import { afterAll, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import type { NostrEvent } from '../../src/nostr/event.ts'
import {
  call,
  createDefinition,
  createProof,
  newSigner,
  nostrHeader,
  openSession,
} from '../support/client.ts'
import { secondsNow } from '../support/clock.ts'
import { shopEnv } from '../support/nodes.ts'
import { cleanUp, startServer } from '../support/server.ts'

afterAll(cleanUp)

const signer = newSigner()
const forged = (event: NostrEvent): NostrEvent => ({
  ...event,
  sig: event.sig.replace(/^./, (digit) => (digit === '0' ? '1' : '0')),
})

/** Every second one is forged. */
const isForged = (index: number) => index % 2 === 1

test('forged events are refused beside right ones, published or in the Authorization header', async () => {
  const { PUBLIC_URL: _, ...env } = shopEnv
  const server = await startServer({ env })
  const token = await openSession(server.url, signer)
  const couponId = await createDefinition(server.url, token)
  const publish = (index: number) => {
    const content = randomBytes(16).toString('hex')
    const event = signer.sign({ kind: 1, created_at: secondsNow(), tags: [], content })
    return call(server.url, '/nostr/publish', { body: isForged(index) ? forged(event) : event })
  }
  const mint = (index: number) => {
    const path = '/api/coupons/mint'
    const body = JSON.stringify({ couponId })
    const proof = createProof(signer, `${server.url}${path}`, { method: 'POST', body })
    const headers = { Authorization: nostrHeader(isForged(index) ? forged(proof) : proof) }
    return call(server.url, path, { body, headers })
  }
  const burst = async () => {
    const indexes = Array.from({ length: 64 }, (_, index) => index)
    const published = await Promise.all(indexes.map(publish))
    expect(published.map(({ status }) => status)).toEqual(
      indexes.map((index) => (isForged(index) ? 422 : 202)),
    )
    const minted = await Promise.all(indexes.map(mint))
    expect(minted.map(({ status }) => status)).toEqual(
      indexes.map((index) => (isForged(index) ? 401 : 200)),
    )
  }
  // The first one starts the thread, which is ready during one of the next.
  for (let times = 0; times < 12; times++) await burst()
})
