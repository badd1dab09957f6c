import { newSigner } from '../support/client.ts'
import { benchKeys } from './fixture.ts'
import type { LoadJob, Values } from './load.ts'
import { signNotes } from './notes.ts'
import { paymentsOf } from './payments.ts'

/** The data of a server that jobs of one kind need. */
export type Aim = {
  token: string
  couponId: string
  /** Nonces that can be spent, and such that only have to exist. */
  open: (count: number) => Values
  known: () => Values
  /** Taps that can be paid with. */
  taps: (count: number) => Values
  /** Taps that nobody saw yet. */
  touches: (count: number) => Values
}

/** A kind of request. */
export type Kind = {
  name: string
  /** It needs cards, which are written into the database. */
  card?: true
  /** The ceiling that it is measured against. */
  ceiling: 'stack' | 'bare'
  /** The least share of the ceiling at 64 connections. */
  share: number
  /** How long the slowest of a hundred may take then, in ms; none is set for reads. */
  p99Ms?: number
  /** How many a second there must be then, at least. */
  perSecond?: number
  /** `count`: at least as many as the server can answer in the time. */
  job(aim: Aim, count: number): Pick<LoadJob, 'request' | 'values' | 'again' | 'status'>
}

export const kinds: readonly Kind[] = [
  {
    name: 'mint, Bearer',
    ceiling: 'stack',
    share: 0.85,
    p99Ms: 10,
    job: ({ token, couponId }) => ({
      request: post('/api/coupons/mint', { couponId }, `Authorization: Bearer ${token}\r\n`),
      values: { from: 'none' },
      again: true,
      status: 200,
    }),
  },
  {
    name: 'mint, NIP-98',
    ceiling: 'stack',
    share: 0.85,
    p99Ms: 10,
    job({ couponId }, count) {
      const target = '/api/coupons/mint'
      const body = JSON.stringify({ couponId })
      const secret = benchKeys.merchant
      return {
        request: post(target, { couponId }, 'Authorization: $VALUE\r\n'),
        values: { from: 'signed', count, secret, method: 'POST', target, body },
        again: false,
        status: 200,
      }
    },
  },
  {
    name: 'preview, POST',
    ceiling: 'bare',
    share: 0.5,
    job: ({ known }) => ({
      request: post('/api/coupons/preview', { nonce: '$VALUE' }),
      values: known(),
      again: true,
      status: 200,
    }),
  },
  {
    name: 'preview, GET',
    ceiling: 'bare',
    share: 0.5,
    job: ({ known }) => ({
      request: get('/api/coupons/claim?nonce=$VALUE'),
      values: known(),
      again: true,
      status: 200,
    }),
  },
  {
    name: 'claim',
    ceiling: 'stack',
    share: 0.85,
    p99Ms: 10,
    job: ({ open }, count) => ({
      request: post('/api/coupons/claim', { nonce: '$VALUE' }),
      values: open(count),
      again: false,
      status: 200,
    }),
  },
  {
    name: 'pay from a card',
    card: true,
    ceiling: 'stack',
    share: 0.3,
    p99Ms: 100,
    job: ({ taps }, count) => ({
      request: postText('/card/pay', paymentLength),
      values: taps(Math.ceil(count / 4)),
      again: false,
      status: 200,
    }),
  },
  {
    name: 'tap a card',
    card: true,
    ceiling: 'stack',
    share: 0.4,
    perSecond: 3000,
    p99Ms: 50,
    job: ({ touches }, count) => ({
      request: get(
        '/card/scan?$VALUE',
        'X-LaWallet-Action: extendedScan\r\nX-LaWallet-Param: federationId=localhost\r\n',
      ),
      values: touches(Math.ceil(count / 3)),
      again: false,
      status: 200,
    }),
  },
  {
    name: 'refresh',
    ceiling: 'stack',
    share: 0.7,
    p99Ms: 10,
    job: ({ open }, count) => ({
      request: post('/api/coupons/refresh', { nonce: '$VALUE' }, 'Idempotency-Key: key-$VALUE\r\n'),
      values: open(count),
      again: false,
      status: 201,
    }),
  },
]

/** Requests to the gateway. They have no ceiling: they are measured against a peer, or another build. */
export const gatewayKinds: readonly Pick<Kind, 'name' | 'job'>[] = [
  {
    name: 'publish',
    job: (_, count) => ({
      request: postText('/nostr/publish', noteLength),
      values: { from: 'notes', count, secret: benchKeys.merchant },
      again: false,
      status: 202,
    }),
  },
  {
    // Notes of one second, as a busy shop has them.
    name: 'fetch ten',
    job: () => ({
      request: post('/nostr/fetch', {
        authors: [newSigner(Uint8Array.fromHex(benchKeys.holder)).pubkey],
        kinds: [1],
        limit: 10,
      }),
      values: { from: 'published', count: 500, secret: benchKeys.holder },
      again: true,
      status: 200,
    }),
  },
]

/** Nonces are 22 characters: what takes the place of `$VALUE` in a body does not change its length. */
const nonceLength = 22

/** All are of one length. */
const noteLength = (signNotes({ count: 1, secret: benchKeys.merchant })[0] as string).length
const paymentLength = (paymentsOf({ first: 0, count: 1 })[0] as string).length

/** A request whose whole body is a value. */
function postText(target: string, length: number): string {
  return `POST ${target} HTTP/1.1\r\nHost: $HOST\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n$VALUE`
}

/** `$HOST` is filled in when the address is known. */
export function post(
  target: string,
  body: unknown,
  headers = '',
  valueLength = nonceLength,
): string {
  const text = JSON.stringify(body)
  const length = text.replaceAll('$VALUE', ' '.repeat(valueLength)).length
  return `POST ${target} HTTP/1.1\r\nHost: $HOST\r\n${headers}Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${text}`
}

export function get(target: string, headers = '', method = 'GET'): string {
  return `${method} ${target} HTTP/1.1\r\nHost: $HOST\r\n${headers}\r\n`
}
