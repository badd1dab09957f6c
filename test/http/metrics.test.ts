import { afterAll, beforeAll, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { call } from '../support/client.ts'
import { untilLimited } from '../support/limited.ts'
import { expectRefusal } from '../support/refusals.ts'
import { cleanUp, newDirectory, startServer, type TestServer } from '../support/server.ts'

const token = 'a-token-of-thirty-two-characters'
/** As a proxy that is not declared passes on what a stranger asks. */
const forwarded = { 'X-Forwarded-For': '203.0.113.7' }
const paths = ['/metrics', '/metrics/']

let server: TestServer

beforeAll(async () => {
  const tokenFile = join(newDirectory(), 'token')
  writeFileSync(tokenFile, `${token}\n`)
  server = await startServer({ env: { METRICS_TOKEN_FILE: tokenFile } })
})
afterAll(cleanUp)

const read = (path: string, headers: Record<string, string>, one = server) =>
  call(one.url, path, { headers })

test('this machine reads the metrics, with either spelling of the path', async () => {
  for (const path of paths) {
    const { status, text } = await read(path, {})
    expect([status, text.includes('process_resident_memory_bytes ')]).toEqual([200, true])
  }
})

test('a request that came by a proxy is refused, whichever header tells of it', async () => {
  const spoken = [
    { Forwarded: 'for=203.0.113.7' },
    { Via: '1.1 proxy' },
    forwarded,
    { 'X-Forwarded-Host': 'localhost' },
    { 'X-Forwarded-Proto': 'http' },
    { 'X-Forwarded-Port': '3000' },
  ]
  for (const headers of spoken) {
    for (const path of paths) {
      expectRefusal(await read(path, headers), 403, 'metrics-closed')
      expect((await call(server.url, path, { method: 'HEAD', headers })).status).toBe(403)
    }
  }
})

test('a page whose own name resolves to this machine is refused', async () => {
  for (const Host of ['rebound.example', 'rebound.example:3000', 'shop.localhost.example']) {
    expectRefusal(await read('/metrics', { Host }), 403, 'metrics-closed')
  }
  for (const Host of ['localhost:3000', '127.0.0.1', '[::1]:3000']) {
    expect((await read('/metrics', { Host })).status).toBe(200)
  }
})

test('the token opens the metrics to everybody who has it', async () => {
  const bearer = (text: string) => ({ ...forwarded, Authorization: text })
  for (const path of paths) {
    expect((await read(path, bearer(`Bearer ${token}`))).status).toBe(200)
    expect((await read(path, bearer(`bearer  ${token}`))).status).toBe(200)
  }
  const wrong = [`Bearer ${token}x`, `Bearer ${token.slice(1)}`, 'Bearer ', token, `Basic ${token}`]
  for (const text of wrong) {
    expectRefusal(await read('/metrics', bearer(text)), 403, 'metrics-closed')
  }
  expect(server.output()).not.toContain(token)
})

test('without METRICS_TOKEN no token opens the metrics', async () => {
  const closed = await startServer()
  for (const Authorization of ['Bearer null', 'Bearer undefined', 'Bearer ']) {
    const answer = await read('/metrics', { ...forwarded, Authorization }, closed)
    expectRefusal(answer, 403, 'metrics-closed')
  }
  expect((await read('/metrics', {}, closed)).status).toBe(200)
})

test('wrong tokens count as failures, and strangers are limited as elsewhere', async () => {
  const tried = await startServer({ env: { METRICS_TOKEN: token } })
  const asking = (headers: Record<string, string>) => () =>
    read('/metrics', { ...forwarded, ...headers }, tried)
  const wrong = await untilLimited(asking({ Authorization: 'Bearer wrong-wrong-wrong' }))
  expect(wrong.before).toBeLessThan(300)
  const anonymous = await untilLimited(asking({}))
  expect(anonymous.before).toBeGreaterThan(300)
  expect((await read('/metrics', {}, tried)).status).toBe(200)
  const Authorization = `Bearer ${token}`
  expect((await read('/metrics', { ...forwarded, Authorization }, tried)).status).toBe(200)
})
