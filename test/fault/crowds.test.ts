/** What four addresses, or one neighbour behind a shop's own, can take from everybody else. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { limits } from '../../src/base/limits.ts'
import { closeConnections, connectCrowd, connectFrom, upgradeText } from '../support/crowd.ts'
import { textFrame } from '../support/raw-socket.ts'
import { cleanUp, startServer, type TestServer } from '../support/server.ts'

const four = [2, 3, 4, 5].map((last) => `127.0.0.${last}`)
/** Where the shop is, and a customer elsewhere. */
const [shop, customer] = ['127.0.0.1', '127.0.0.9']

let server: TestServer

beforeAll(async () => {
  server = await startServer({ env: { RATE_LIMIT: 'off' } })
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

  test('four addresses that open all they can leave room for others', async () => {
    const each = Math.ceil(limits.relayConnectionsMax / 4) + 20
    const crowd = await connectCrowd(server.url, four, each, upgradeText(server.url))
    await Promise.all(crowd.map((one) => one.until(answered)))
    for (const from of [shop, customer]) await isServed(from)
  }, 30_000)

  test('a neighbour behind the same address cannot keep the shop out', async () => {
    const each = limits.relayConnectionsPerAddressMax + 200
    const crowd = await connectCrowd(server.url, [shop], each, upgradeText(server.url))
    await Promise.all(crowd.map((one) => one.until(answered)))
    await isServed(shop)
    const left = await Promise.race(crowd.map(({ ended }) => ended))
    expect(left).toContain('["NOTICE","closed: too many connections"]')
  }, 30_000)
})
