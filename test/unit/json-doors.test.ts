/** Every parser of outside JSON, with a text of the maximum depth and one that is a level deeper. */
import { expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { limits } from '../../src/base/limits.ts'
import { Refusal } from '../../src/base/refusal.ts'
import { parseScan } from '../../src/client/scan.ts'
import type { Voucher } from '../../src/coupons/voucher.ts'
import { parseZapRequest } from '../../src/coupons/zap-request.ts'
import { openKeyFile, sealKeyFile } from '../../src/crypto/key-file.ts'
import { createConversation } from '../../src/gateway/relays-conversation.ts'
import { contentObject } from '../../src/nostr/event.ts'
import { verifyHttpAuth } from '../../src/nostr/nip98.ts'
import { createWalletCaller } from '../../src/outbound/callback.ts'
import type { FetchPublic } from '../../src/outbound/fetch-public.ts'
import { createHandOver, createLookUpAddress } from '../../src/outbound/lud16.ts'
import { createNip05Resolver } from '../../src/outbound/nip05.ts'
import {
  createPreviewElsewhere,
  createRefreshElsewhere,
} from '../../src/outbound/voucher-service.ts'
import { parseClientMessage } from '../../src/relay/client-message.ts'
import { parseLud16 } from '../../src/wallet/identities/lud16.ts'
import { createProof, newSigner, verifyEvent } from '../support/client.ts'
import { secondsNow } from '../support/clock.ts'
import { createEvent } from '../support/events.ts'
import { walletObject } from '../support/identities.ts'

const signer = newSigner()
const now = secondsNow()
const nonce = randomBytes(16).toString('base64url')
const keyFile = sealKeyFile('keys', 'npub1someone', 'a passphrase')
const url = 'https://cupones.example/api/coupons'
const target = '/api/coupons'

/** Arrays that make a text nest so deep, inside of what is around them. */
const nested = (depth: number, around: number) =>
  `${'['.repeat(depth - around)}${']'.repeat(depth - around)}`
const answering =
  (body: string): FetchPublic =>
  async () => ({ status: 200, headers: {}, body: Buffer.from(body) })
const orNull = async <T>(run: () => T): Promise<Awaited<T> | null> => {
  try {
    return await run()
  } catch (cause) {
    if (cause instanceof Refusal) return null
    throw cause
  }
}

/** Each parser with a text of that depth; true: it was accepted. */
const doors: Record<string, (depth: number) => boolean | Promise<boolean>> = {
  'the Authorization header': async (depth) => {
    const event = JSON.stringify(createProof(signer, url))
    const text = `{"x":${nested(depth, 1)},${event.slice(1)}`
    const request = { method: 'GET', origins: ['https://cupones.example'], target }
    const encoded = Buffer.from(text).toString('base64')
    const signed = { ...request, body: new Uint8Array() }
    return (await orNull(() => verifyHttpAuth(encoded, signed, now, verifyEvent))) !== null
  },
  'the content of an event': (depth) => contentObject(`{"x":${nested(depth, 1)}}`) !== null,
  'a frame of a client of the relay': (depth) =>
    parseClientMessage(`["CLOSE","a",${nested(depth, 1)}]`).type === 'CLOSE',
  'a frame of a relay outside': async (depth) => {
    const conversation = createConversation({
      url: 'wss://relay.example',
      signer,
      verify: verifyEvent,
      now: () => now,
      send: () => undefined,
      abandon: () => undefined,
    })
    const event = createEvent()
    const answer = conversation.publish(event, () => undefined)
    conversation.receive(`["OK","${event.id}",true,"",${nested(depth, 1)}]`)
    conversation.end()
    return (await answer)?.accepted === true
  },
  'the order behind a redemption': (depth) => {
    const tags = [['coupon', 'an-id']]
    const event = JSON.stringify(createEvent({ kind: 9734, tags, signer }))
    const text = `{"x":${nested(depth, 1)},${event.slice(1)}`
    return parseZapRequest(text, { couponId: 'an-id' } as Voucher, nonce, verifyEvent) !== null
  },
  'the metadata of a wallet': async (depth) => {
    const metadata = `[["text/plain",${nested(depth, 2)}],["text/identifier","a@b.example"]]`
    const rules = { hosts: [], usable: () => true }
    return (await orNull(() => parseLud16(walletObject({ metadata }), rules))) !== null
  },
  'the answer of a wallet': async (depth) =>
    (await createWalletCaller(answering(`{"x":${nested(depth, 1)}}`))('ana', new URL(url))) !==
    null,
  'the document of a NIP-05 name': async (depth) => {
    const names = `{"x":${nested(depth, 1)},"names":{"ana":"${signer.pubkey}"}}`
    return (await createNip05Resolver(answering(names))('ana', 'a.example', 'x')) !== null
  },
  'the answer of a lightning address': async (depth) => {
    const text = `{"x":${nested(depth, 1)},"allowVouchers":true,"callback":"${url}"}`
    return (await createLookUpAddress(answering(text))('ana', 'a.example')).kind === 'takes'
  },
  'the answer to a hand-over': async (depth) => {
    const text = `{"x":${nested(depth, 1)},"status":"ACCEPTED"}`
    return (await createHandOver(answering(text))(new URL(url), {})).kind === 'accepted'
  },
  'the answer to a refresh elsewhere': async (depth) => {
    const refresh = createRefreshElsewhere(answering(`{"x":${nested(depth, 1)}}`))
    return (await refresh(url, { nonce, key: nonce })).kind === 'answer'
  },
  'the answer to a preview elsewhere': async (depth) => {
    const text = `{"x":${nested(depth, 1)},"status":"minted"}`
    return (await createPreviewElsewhere(answering(text))(`${url}/refresh`, nonce)) === 'minted'
  },
  'a file of keys': (depth) => {
    const text = keyFile.replace('{', `{"x":${nested(depth, 1)},`)
    try {
      return openKeyFile(text, 'a passphrase') === 'keys'
    } catch {
      return false
    }
  },
  'a scanned code': (depth) =>
    parseScan(`{"nonce":"${nonce}","x":${nested(depth, 1)}}`).kind === 'coupon',
}

test.each(Object.entries(doors))('%s', async (_, taken) => {
  expect(await taken(limits.jsonDepthMax)).toBe(true)
  expect(await taken(limits.jsonDepthMax + 1)).toBe(false)
  expect(await taken(5000)).toBe(false)
})
