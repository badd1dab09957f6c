/** The share of the service that four addresses, or one neighbour behind a shop's own, can take. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { limits } from '../../src/base/limits.ts'
import { createDefinition, mintOne, newSigner, openSession } from '../support/client.ts'
import { closeConnections, connectCrowd, connectFrom, upgradeText } from '../support/crowd.ts'
import { residentMb } from '../support/process-figures.ts'
import { timelessProgram } from '../support/program.ts'
import { callRaw } from '../support/raw.ts'
import { textFrame } from '../support/raw-socket.ts'
import { cleanUp, startServer, type TestServer } from '../support/server.ts'
import { until } from '../support/until.ts'

const four = [2, 3, 4, 5].map((last) => `127.0.0.${last}`)
/** The address of the shop, and of a customer elsewhere. */
const [shop, customer] = ['127.0.0.1', '127.0.0.9']

let server: TestServer

beforeAll(async () => {
  server = await startServer({ env: { RATE_LIMIT: 'off' }, command: timelessProgram })
})
afterEach(closeConnections)
afterAll(cleanUp)

const answered = (received: string) => received.includes('\r\n\r\n')
const question = textFrame(JSON.stringify(['REQ', 'q', { limit: 1 }]))

describe('relay sockets', () => {
  /** A client connects, asks and is answered. */
  const isServed = async (from: string) => {
    const client = await connectFrom(server.url, from, upgradeText(server.url))
    expect(await client.until(answered)).toStartWith('HTTP/1.1 101 ')
    client.socket.write(question)
    await client.until((received) => received.includes('["EOSE","q"]'))
    return client
  }

  test('four addresses with all the sockets they can open leave room for others', async () => {
    const each = Math.ceil(limits.relayConnectionsMax / 4) + 20
    const crowd = await connectCrowd(server.url, four, each, upgradeText(server.url))
    await Promise.all(crowd.map((one) => one.until(answered)))
    for (const from of [shop, customer]) await isServed(from)
  })

  test('a neighbour behind the same address cannot keep the shop out', async () => {
    const each = limits.relayConnectionsPerAddressMax + 200
    const crowd = await connectCrowd(server.url, [shop], each, upgradeText(server.url))
    await Promise.all(crowd.map((one) => one.until(answered)))
    await isServed(shop)
    const left = await Promise.race(crowd.map(({ ended }) => ended))
    expect(left).toContain('["NOTICE","closed: too many connections"]')
  })
})

describe('half-sent bodies', () => {
  let nonce: string
  let claim: (length: number) => string

  beforeAll(async () => {
    const token = await openSession(server.url, newSigner())
    nonce = (await mintOne(server.url, token, await createDefinition(server.url, token))).nonce
    const { host } = new URL(server.url)
    claim = (length) =>
      `POST /api/coupons/preview HTTP/1.1\r\nHost: ${host}\r\nContent-Length: ${length}\r\n\r\n{`
  })
  const shareMax = limits.bodiesBytesPerAddressMax / limits.bodyWeightMin
  const preview = (from: string) =>
    callRaw(server.url, { method: 'POST', target, from, body: JSON.stringify({ nonce }) })
  const target = '/api/coupons/preview'

  test('four addresses that send all they can leave room for others', async () => {
    await connectCrowd(server.url, four, shareMax + 100, claim(5000))
    for (const from of [shop, customer]) expect((await preview(from)).status).toBe(200)
  })

  test('a neighbour behind the same address cannot keep the shop out', async () => {
    const all = limits.inFlightMax + 100
    const crowd = await connectCrowd(server.url, [shop], all, claim(5000))
    expect((await preview(shop)).status).toBe(200)
    const silent = () => crowd.filter(({ received }) => received() === '')
    const waiting = () => silent().filter(({ socket }) => !socket.destroyed).length
    const told = until('those beyond the share are answered', () => waiting() <= shareMax)
    await told.catch(({ message }) => {
      throw new Error(`${message}: ${waiting()} of ${all} wait, ${silent().length} had no word`)
    })
    // The latest of them wait on, and no other one was closed without a word.
    expect(waiting()).toBeGreaterThan(0)
    expect(silent()).toHaveLength(waiting())
    const given = await crowd[0]?.ended
    expect(given).toStartWith('HTTP/1.1 408 ')
    expect(given).toContain('"code":"request-timeout"')
    expect(given).toContain('Connection: close')
  })

  test('a body whose length is sent twice counts like any other', async () => {
    const twice = (length: number): [string, string][] => [
      ['Content-Length', `${length}`],
      ['Content-Length', `${length}`],
    ]
    const body = `{"x":"${'x'.repeat(limits.bodyBytesMax)}"}`
    const headers = twice(body.length)
    const large = await callRaw(server.url, { method: 'POST', target, headers, body })
    expect(large.status).toBe(413)
    const doubled = claim(5000).replace('\r\n\r\n', '\r\nContent-Length: 5000\r\n\r\n')
    await connectFrom(server.url, shop, doubled)
    const crowd = await connectCrowd(server.url, [shop], shareMax + 100, claim(5000))
    expect(await crowd[0]?.ended).toStartWith('HTTP/1.1 408 ')
    expect(crowd.filter(({ received }) => received() === '').length).toBeGreaterThan(100)
  })

  test('the bytes kept for half-sent bodies are bounded, too', async () => {
    const before = residentMb(server.pid).now
    const { host } = new URL(server.url)
    const length = limits.publishBytesMax
    const head = `POST /nostr/publish HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`
    const almost = head + 'x'.repeat(length - 1)
    await connectCrowd(server.url, four, 250, almost)
    expect((await preview(shop)).status).toBe(200)
    expect(residentMb(server.pid).now - before).toBeLessThan(200)
  })
})
