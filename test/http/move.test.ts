import { afterAll, expect, test } from 'bun:test'
import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Signer } from '../../src/nostr/event.ts'
import { runCommand } from '../support/cli.ts'
import {
  call,
  createDefinition,
  createProof,
  mintOne,
  newSigner,
  nostrHeader,
  openSession,
} from '../support/client.ts'
import { admitByCode, type ClosedServer, startClosed } from '../support/closed.ts'
import { describeFile } from '../support/database.ts'
import { expectRefusal } from '../support/refusals.ts'
import { cleanUp, newDirectory, startServer } from '../support/server.ts'
import { until } from '../support/until.ts'

afterAll(cleanUp)

const passphrase = 'uno dos tres cuatro cinco seis siete ocho'
const claim = (url: string, nonce: string) => call(url, '/api/coupons/claim', { body: { nonce } })
const isMoved = async (url: string) => (await call(url, '/readyz').catch(() => null))?.json?.code
const isOpen = async (url: string) => (await call(url, '/readyz').catch(() => null))?.status === 200

/** Close a service for the move, and wait until it is started again as one that was moved. */
async function begin(url: string, signer: Signer): Promise<void> {
  const begun = await call(url, '/api/move', { method: 'POST', signer })
  expect(begun.status).toBe(202)
  expect(begun.json.movedAt).toBeInteger()
  await until('it was moved', async () => (await isMoved(url)) === 'moved')
}

/** A service with a first owner by setup code. */
async function startOwned() {
  const server = await startClosed()
  return { ...server, ...(await admitByCode(server)) }
}

async function fetchFile(url: string, signer: Signer): Promise<Uint8Array> {
  const body = JSON.stringify({ passphrase })
  const proof = createProof(signer, `${url}/api/move/file`, { method: 'POST', body })
  const headers = { Authorization: nostrHeader(proof), 'Content-Type': 'application/json' }
  const answer = await fetch(`${url}/api/move/file`, { method: 'POST', body, headers })
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-disposition')).toMatch(
    /^attachment; filename="mudanza-cuponera-\d{4}-\d\d-\d\d\.cuponera"$/,
  )
  const replayed = await fetch(`${url}/api/move/file`, { method: 'POST', body, headers })
  expect(replayed.status).toBe(401)
  return answer.bytes()
}

/** Send a file in pieces, and finish with a passphrase. */
async function bringIn(
  { url, code }: Pick<ClosedServer, 'url' | 'code'>,
  file: Uint8Array,
  words = passphrase,
) {
  const opened = await call(url, '/api/arrival', { body: code ? { code } : {} })
  expect(opened.status).toBe(201)
  const headers = { 'X-Move-Ticket': opened.json.ticket }
  for (let at = 0; at < file.length; at += 40_000) {
    const body = file.slice(at, at + 40_000)
    const sent = await fetch(`${url}/api/arrival/pieces?at=${at}`, { method: 'PUT', body, headers })
    expect(await sent.json()).toEqual({ bytes: at + body.length })
  }
  return call(url, '/api/arrival/finish', { body: { passphrase: words }, headers })
}

describeFile('a move by the pages', () => {
  test('closes the old service, and the new one redeems each voucher once', async () => {
    const old = await startClosed()
    const { signer, token } = await admitByCode(old)
    const couponId = await createDefinition(old.url, token)
    const { nonce } = await mintOne(old.url, token, couponId)
    await begin(old.url, signer)
    expectRefusal(await claim(old.url, nonce), 503, 'moved')
    const file = await fetchFile(old.url, signer)

    const fresh = await startClosed()
    expectRefusal(
      await bringIn(fresh, file, 'otras palabras que no son'),
      400,
      'move-passphrase-wrong',
    )
    expectRefusal(await bringIn(fresh, file.slice(0, -1)), 400, 'move-file-damaged')
    const arrived = await bringIn(fresh, file)
    expect(arrived.status).toBe(202)
    await until('it runs as the old one', async () => {
      const known = await call(fresh.url, '/api/coupons/preview', { body: { nonce } }).catch(
        () => null,
      )
      return known?.json?.status === 'minted'
    })
    expect((await claim(fresh.url, nonce)).json.status).toBe('success')
    expect((await claim(fresh.url, nonce)).json.status).toBe('claimed')
    expectRefusal(await claim(old.url, nonce), 503, 'moved')
    // The session of the old computer goes on.
    expect((await call(fresh.url, '/api/coupons', { token })).status).toBe(200)
    expect(existsSync(join(fresh.dataDir, 'arriving.cuponera'))).toBe(false)
    expect(existsSync(join(fresh.dataDir, 'incoming'))).toBe(false)
    expect(old.output() + fresh.output()).not.toContain(passphrase)
  })

  test('stays closed after a crash, can be taken back, and then has no old copy', async () => {
    const first = await startClosed()
    const { signer, token } = await admitByCode(first)
    const couponId = await createDefinition(first.url, token)
    const { nonce } = await mintOne(first.url, token, couponId)
    await begin(first.url, signer)
    await first.kill()
    // A copy that the crash cut off.
    writeFileSync(join(first.dataDir, 'move.db.partial-12345678-journal'), 'x')
    const server = await startClosed({ dataDir: first.dataDir })
    expect(readdirSync(server.dataDir)).not.toContain('move.db.partial-12345678-journal')
    expectRefusal(await claim(server.url, nonce), 503, 'moved')
    expectRefusal(
      await call(server.url, '/api/move', { method: 'DELETE', signer: newSigner() }),
      403,
      'move-not-allowed',
    )
    await until('the copy is there', () => readdirSync(server.dataDir).includes('move.db'))
    const back = await call(server.url, '/api/move', { method: 'DELETE', signer })
    expect(back.status).toBe(202)
    await until('it is open', () => isOpen(server.url))
    expect((await claim(server.url, nonce)).json.status).toBe('success')
    expect(readdirSync(server.dataDir)).not.toContain('move.db')
    await begin(server.url, signer)
    const fresh = await startClosed()
    expect((await bringIn(fresh, await fetchFile(server.url, signer))).status).toBe(202)
    await until('the second file knows the redemption', async () => {
      const known = await claim(fresh.url, nonce).catch(() => null)
      return known?.json?.status === 'claimed'
    })
  })

  test('a signature that took a move back does not open the service after the next one', async () => {
    const { signer, url } = await startOwned()
    await begin(url, signer)
    const proof = createProof(signer, `${url}/api/move`, { method: 'DELETE' })
    const headers = { Authorization: nostrHeader(proof) }
    const back = () => call(url, '/api/move', { method: 'DELETE', headers })
    expect((await back()).status).toBe(202)
    await until('it is open', () => isOpen(url))
    await begin(url, signer)
    expectRefusal(await back(), 401, 'auth-replay', { reason: 'replay' })
    expect(await isMoved(url)).toBe('moved')
  })

  test('waits for its port at the restart, when another program took it', async () => {
    const server = await startOwned()
    const port = Number(new URL(server.url).port)
    const fetch = () => new Response('another program')
    expect(
      (await call(server.url, '/api/move', { method: 'POST', signer: server.signer })).status,
    ).toBe(202)
    let other: ReturnType<typeof Bun.serve> | undefined
    await until('another program has the port, or the service is back', async () => {
      try {
        other = Bun.serve({ hostname: '0.0.0.0', port, fetch })
      } catch {}
      return other !== undefined || (await isMoved(server.url)) === 'moved'
    })
    if (other) {
      await until('the service waits', () => server.output().includes('restart.port-taken'))
      await other.stop(true)
    }
    await until('it was moved', async () => (await isMoved(server.url)) === 'moved')
  })

  test('cannot be taken back where it was not begun', async () => {
    const server = await startClosed()
    const { signer } = await admitByCode(server)
    expectRefusal(
      await call(server.url, '/api/move', { method: 'DELETE', signer }),
      409,
      'move-not-begun',
    )
  })

  test('the file that a page made is one for the command, too', async () => {
    const old = await startServer()
    const signer = newSigner()
    await createDefinition(old.url, await openSession(old.url, signer))
    await begin(old.url, signer)
    const path = join(newDirectory(), 'mudanza.cuponera')
    writeFileSync(path, await fetchFile(old.url, signer))
    const words = join(newDirectory(), 'words')
    writeFileSync(words, passphrase)
    const dataDir = newDirectory()
    const args = ['move', 'in', path, '--passphrase-file', words]
    expect((await runCommand(args, { dataDir })).code).toBe(0)
  })
})

describeFile('only the person who runs the service moves it', () => {
  test('with a setup code: the first owner, with a signature, over a safe way, from its own page', async () => {
    const server = await startClosed()
    const { url } = server
    const { signer, token } = await admitByCode(server)
    const other = newSigner()
    const body = { pubkey: other.pubkey }
    expect((await call(url, '/api/merchants', { body, token })).status).toBe(201)
    const ask = (options: object) => call(url, '/api/move', { method: 'POST', ...options })
    expectRefusal(await ask({ token }), 401, 'auth-missing', { reason: 'missing' })
    expectRefusal(await ask({ signer: other }), 403, 'move-not-allowed')
    expectRefusal(await ask({ signer: newSigner() }), 403, 'move-not-allowed')
    const page = { Origin: 'https://evil.example' }
    expectRefusal(await ask({ signer, headers: page }), 403, 'move-not-allowed')
    const far = { 'X-Forwarded-For': '203.0.113.9' }
    expectRefusal(await ask({ signer, headers: far }), 403, 'move-in-clear')
    expectRefusal(
      await call(url, '/api/move/file', { signer, body: { passphrase } }),
      409,
      'move-not-begun',
    )
    expect(await isOpen(url)).toBe(true)
    await begin(url, signer)
    expectRefusal(
      await call(url, '/api/move/file', { signer: other, body: { passphrase } }),
      403,
      'move-not-allowed',
    )
  })

  test.each(['open', newSigner().pubkey])('nobody over HTTP with MERCHANTS=%s', async (setting) => {
    const { url } = await startServer({ env: { MERCHANTS: setting } })
    const answer = await call(url, '/api/move', { method: 'POST', signer: newSigner() })
    expectRefusal(answer, 403, 'move-not-allowed')
    expectRefusal(await call(url, '/api/arrival', { body: {} }), 403, 'move-not-allowed')
  })

  test('on this machine alone: the one key that has coupons', async () => {
    const { url } = await startServer()
    const [first, second] = [newSigner(), newSigner()]
    const ask = (signer: Signer) => call(url, '/api/move', { method: 'POST', signer })
    expectRefusal(await ask(first), 403, 'move-not-allowed')
    await createDefinition(url, await openSession(url, first))
    expectRefusal(await ask(second), 403, 'move-not-allowed')
    await createDefinition(url, await openSession(url, second))
    expectRefusal(await ask(first), 403, 'move-not-allowed')
  })
})

describeFile('a service comes in', () => {
  test('while its file is checked, others are answered', async () => {
    const { url, code } = await startClosed()
    const opened = await call(url, '/api/arrival', { body: { code } })
    const headers = { 'X-Move-Ticket': opened.json.ticket }
    // The cost of one try is that of a whole second of a thread.
    const head = `age-encryption.org/v1\n-> scrypt ${'A'.repeat(22)} 18\n${'A'.repeat(43)}\n`
    const body = `${head}--- ${'A'.repeat(43)}\n`
    await fetch(`${url}/api/arrival/pieces?at=0`, { method: 'PUT', body, headers })
    let tries = 0
    let answered = 0
    const finish = () => call(url, '/api/arrival/finish', { body: { passphrase }, headers })
    const finished = finish().finally(() => {
      tries = answered
    })
    while (tries === 0 && answered < 1000) {
      expect((await call(url, '/livez')).status).toBe(200)
      answered++
      await Bun.sleep(10)
    }
    expectRefusal(await finished, 400, 'move-passphrase-wrong')
    expect(tries).toBeGreaterThan(5)
  })

  test('with the setup code alone, in order, from its own page, and only where nothing is', async () => {
    const server = await startClosed()
    const { url, code } = server
    const open = (body: object, headers = {}) => call(url, '/api/arrival', { body, headers })
    expectRefusal(await open({}), 403, 'setup-code-wrong')
    expectRefusal(await open({ code: 'AAAA-AAAA-AAAA' }), 403, 'setup-code-wrong')
    expectRefusal(await open({ code }, { Origin: 'https://evil.example' }), 403, 'move-not-allowed')
    expectRefusal(await open({ code }, { Via: '1.1 far' }), 403, 'move-in-clear')
    const { ticket } = (await open({ code })).json
    const send = async (
      at: number,
      headers: Record<string, string> = { 'X-Move-Ticket': ticket },
    ) => {
      const sent = { method: 'PUT', body: 'abc', headers }
      return call(url, `/api/arrival/pieces?at=${at}`, sent)
    }
    const early = await call(url, '/api/arrival/finish', {
      body: { passphrase },
      headers: { 'X-Move-Ticket': ticket },
    })
    expectRefusal(early, 400, 'move-file-damaged')
    expect(server.output()).not.toContain('"error"')
    expectRefusal(await send(0, {}), 403, 'move-not-allowed')
    expectRefusal(await send(0, { 'X-Move-Ticket': 'x' }), 403, 'move-not-allowed')
    expectRefusal(await send(3), 400, 'field-invalid', { field: 'at' })
    expect((await send(0)).json).toEqual({ bytes: 3 })
    expectRefusal(await send(0 + 4), 400, 'field-invalid', { field: 'at' })
    // A full disk left a part of the second piece.
    appendFileSync(join(server.dataDir, 'arriving.cuponera'), 'ab')
    expect((await send(3)).json).toEqual({ bytes: 6 })
    expect(readFileSync(join(server.dataDir, 'arriving.cuponera'), 'utf8')).toBe('abcabc')
    await admitByCode(server)
    const late = await call(url, '/api/arrival/finish', {
      body: { passphrase },
      headers: { 'X-Move-Ticket': ticket },
    })
    expectRefusal(late, 409, 'move-not-empty')
  })
})
